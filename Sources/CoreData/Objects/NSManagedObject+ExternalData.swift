import Foundation

extension NSManagedObject {
    /// The attributes whose values are stored outside the store in files that cannot be read, by name.
    ///
    /// Such a property is `nil`, which a warning on standard error reports once for each context; the stored value
    /// stays as it is until another value is set. Core Data has no such property; it raises an exception.
    public var missingExternalData: [String: URL] {
        var files: [String: URL] = [:]
        for slot in layout.slots.indices where layout.slots[slot].attribute?.allowsExternalStorage == true {
            if let missing = storedValue(at: slot).missingExternalData { files[layout.slots[slot].name] = missing.file }
        }
        return files
    }

    /// Reports that a property is shown without its value.
    @inline(never)
    final func reportMissing(_ missing: MissingExternalData, at slot: Int) {
        guard let context = storedContext, context.readFailures.report(missing.file.path) else { return }
        context.report(
            "“\(layout.name).\(layout.slots[slot].name)” of \(identifier.description) is shown without a value",
            StoreError.make(CocoaError.Code.fileReadNoSuchFile.rawValue, missing.sentence, url: missing.file))
    }
}
