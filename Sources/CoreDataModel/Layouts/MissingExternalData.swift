import Foundation

/// Stands in a slot for a value whose file beside the store cannot be read.
///
/// It is written back as it was found, so that the value is there again when its file is; a property shows none meanwhile.
package final class MissingExternalData: NSObject {
    /// What the column has: the reference to the file.
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
    /// What stands for a value whose file cannot be read; nil for every other value.
    package var missingExternalData: MissingExternalData? {
        guard case .object(let object) = self else { return nil }
        return object as? MissingExternalData
    }
}
