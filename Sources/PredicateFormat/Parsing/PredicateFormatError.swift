import Foundation

/// An error in a format string or its arguments, with its position.
///
/// ```
/// Cannot parse the predicate format at character 8: expected a value, found "=".
///     name = = 1
///            ^
/// ```
public struct PredicateFormatError: LocalizedError, CustomNSError, CustomStringConvertible, Equatable {
    /// The format string.
    public let format: String
    /// The position of the error in the format string, as a count of characters before it; nil if the error is in the
    /// arguments as a whole.
    public let position: Int?
    /// What was expected there, and what was found.
    public let reason: String

    init(format: String, byteOffset: Int?, reason: String) {
        self.format = format
        self.reason = reason
        guard let byteOffset else {
            position = nil
            return
        }
        position = String(decoding: format.utf8.prefix(byteOffset), as: UTF8.self).count
    }

    /// The reason, with the position marked under the format string.
    public var description: String {
        guard let position else {
            return "Cannot use the predicate format: \(reason).\n    \(excerpt(around: 0).line)"
        }
        let excerpt = excerpt(around: position)
        let mark = String(repeating: " ", count: excerpt.column) + "^"
        return
            "Cannot parse the predicate format at character \(position + 1): \(reason).\n    \(excerpt.line)\n    \(mark)"
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// `NSCocoaErrorDomain`.
    public static var errorDomain: String { NSCocoaErrorDomain }

    /// `NSFormattingError`.
    public var errorCode: Int { 2048 }

    /// The description, under `NSLocalizedDescriptionKey`.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }

    /// One line with the position in it, of at most about 120 characters, however long the format string is.
    private func excerpt(around position: Int) -> (line: String, column: Int) {
        let start = format.index(format.startIndex, offsetBy: max(0, position - 60), limitedBy: format.endIndex)
        let tail = format[(start ?? format.endIndex)...]
        let line = tail.prefix(120).map { $0.isNewline || $0 == "\t" ? " " : $0 }
        let before = position > 60 ? "…" : ""
        let after = tail.count > 120 ? "…" : ""
        return (before + String(line) + after, min(position, 60) + before.count)
    }
}
