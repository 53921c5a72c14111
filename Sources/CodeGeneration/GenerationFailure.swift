/// A problem of code generation and its position, for the build log.
package struct Problem: Sendable, Hashable, CustomStringConvertible {
    package var file: String
    package var line: Int?
    package var column: Int?
    package var message: String
    /// Whether the build goes on.
    package var isWarning: Bool

    package init(
        file: String, line: Int? = nil, column: Int? = nil, message: String, isWarning: Bool = false
    ) {
        self.isWarning = isWarning
        self.file = file
        self.line = line
        self.column = column
        self.message = message
    }

    /// The form that editors and continuous integration make a link of: `FILE:LINE:COLUMN: error: MESSAGE`, or
    /// `warning:`.
    package var description: String {
        let place = [file, line.map(String.init), column.map(String.init)].compactMap { $0 }.joined(separator: ":")
        return "\(place): \(isWarning ? "warning" : "error"): \(message)"
    }
}

extension Problem: Comparable {
    /// By place, as a developer works through them.
    package static func < (left: Problem, right: Problem) -> Bool {
        (left.file, left.line ?? 0, left.column ?? 0, left.message)
            < (right.file, right.line ?? 0, right.column ?? 0, right.message)
    }
}

/// The error of code generation, with all problems that it found.
package struct GenerationFailure: Error, CustomStringConvertible {
    package var problems: [Problem]

    package init(_ problems: [Problem]) {
        self.problems = problems
    }

    package init(file: String, _ message: String) {
        problems = [Problem(file: file, message: message)]
    }

    package var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
