import Foundation

/// Why bytes are no property list that this module reads, or why a value cannot be written.
package struct PropertyListError: Error, Equatable, CustomStringConvertible {
    /// The offset in bytes; nil when writing a value.
    package let offset: Int?
    /// What was expected there and what was found.
    package let reason: String

    package init(offset: Int?, reason: String) {
        self.offset = offset
        self.reason = reason
    }

    package var description: String {
        guard let offset else { return "The property list cannot be written: \(reason)." }
        return "The binary property list is damaged at byte \(offset): \(reason)."
    }
}

extension PropertyListError: LocalizedError {
    package var errorDescription: String? { description }
}
