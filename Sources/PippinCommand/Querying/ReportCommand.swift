import StoreReading

/// `pippin report`.
enum ReportCommand {
    static func run(_ options: ReportOptions, _ progress: Progress, _ output: (String) throws -> Void) throws {
    }
}
