import Foundation
import SQLiteConnection
import SQLiteEngine

extension FileFacts {
    /// Reads a copy. If pages are damaged that every reader of a store needs, it is replaced by what can be read of it
    /// first: the pages of the objects may be intact. A table that every reader needs, and that is missing, is made.
    ///
    /// - Parameters:
    ///   - copy: the copy.
    ///   - original: the store.
    ///   - isDamaged: whether damage was found in other pages, so that the copy is replaced in any case.
    ///   - readsDamaged: whether what can be read takes the place of a copy with damaged pages.
    /// - Throws: the same errors as `init(copy:original:)`.
    package init(
        salvaging copy: PrivateCopy, original: URL, isDamaged: Bool = false, readsDamaged: Bool = true
    ) throws {
        let isSalvaged =
            try readsDamaged && StoreKind(of: original) == .sqlite && (isDamaged || copy.hasDamagedBookkeeping)
            && ForeignLog.text(original).isEmpty && (isDamaged || SQLiteHeader(of: copy.url)?.missingBytes == nil)
        // If nothing can be read, the error is that of the file as it is.
        if isSalvaged { try? copy.salvage() }
        let wasSalvaged = !copy.losses.isEmpty
        let missing = try? copy.completeTables()
        try self.init(copy: copy.url, original: original)
        guard missingMetadata != nil else { return }
        if missing == "Z_METADATA" {
            missingMetadata = "there is no table Z_METADATA"
        } else if wasSalvaged {
            missingMetadata = "they are on a damaged page"
        }
    }
}

extension PrivateCopy {
    /// What the copy lacks of a damaged store, and what to do, as a sentence without its final period; nil for an
    /// intact one.
    var damage: String? {
        losses.isEmpty
            ? nil
            : "the file is damaged, and what can be read is shown: \(losses.joined(separator: "; ")). \(StoreRepair.advice)"
    }

    /// Whether the metadata, the numbers of the entities or the copy of the model are on damaged pages.
    fileprivate var hasDamagedBookkeeping: Bool {
        do {
            let file = try RawStoreFile(url, mode: .readWrite)
            guard file.tables.isSuperset(of: ["Z_METADATA", "Z_PRIMARYKEY"]) else { return false }
            _ = try (file.metadata(), file.entities(), file.modelCopies())
            return false
        } catch { return (error as? SQLiteError)?.isCorrupt ?? false }
    }
}
