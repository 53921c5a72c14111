/// The reason why the command cannot do what it was asked, naming what and where.
package struct CommandError: Error, Equatable {
    package let message: String
    package init(_ message: String) { self.message = message }
}
