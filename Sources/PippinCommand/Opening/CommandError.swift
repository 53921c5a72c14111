/// Why the command cannot do what it was asked: names what and where.
struct CommandError: Error, Equatable {
    let message: String
    init(_ message: String) { self.message = message }
}
