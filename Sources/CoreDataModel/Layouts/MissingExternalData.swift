import Foundation

/// Takes the place of a value whose file beside the store cannot be read.
///
/// It is written back unchanged, so that the value reappears with its file; meanwhile the property has no value.
package final class MissingExternalData: NSObject {
    /// The content of the column: the reference to the file.
    package let column: Data
    /// The file that should hold the value.
    package let file: URL
    /// Why it cannot be read.
    package let reason: String

    package init(column: Data, file: URL, reason: String) {
        self.column = column
        self.file = file
        self.reason = reason
    }

    /// One sentence that names the file.
    package var sentence: String {
        "its value is kept outside the store, in the file “\(file.path)”, which cannot be read (\(reason)). "
            + "Put the file back, or set another value."
    }

    package override func isEqual(_ object: Any?) -> Bool { (object as? MissingExternalData)?.column == column }
    package override var hash: Int { column.hashValue }
    package override var description: String { "missing: \(file.lastPathComponent)" }
}

extension StoredValue {
    /// The stand-in for a value whose file cannot be read; nil for every other value.
    package var missingExternalData: MissingExternalData? {
        guard case .object(let object) = self else { return nil }
        return object as? MissingExternalData
    }

    /// The stand-in for a value, or for an element of it, whose file cannot be read; nil for every other value.
    package var missingContent: MissingExternalData? {
        guard case .object(let object) = self else { return nil }
        return (object as? CompositeValue)?.missingElement ?? object as? MissingExternalData
    }
}
