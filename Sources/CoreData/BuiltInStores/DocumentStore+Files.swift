import Foundation

// Reading and replacing the file of a store, and the errors of doing so.
extension DocumentStore {
    /// The content of a store's file with all that it says about properties, for tools that have no model.
    ///
    /// - Parameters:
    ///   - url: the file of the store.
    ///   - type: the type of XML or binary stores.
    /// - Returns: the metadata and all objects of the file. Values that the file has by place have no names. Of a file
    ///   that is damaged, what is left, and its defects.
    /// - Throws: 259 if nothing is left, or the file is no such store.
    package static func contents(of url: URL, type: String) throws -> StoreDocument {
        if type == NSXMLStoreType {
            return try XMLStore.read(url) { try XMLStoreReader.document(of: $0, showingAll: true) }
        }
        return try BinaryStore.read(url) { data in
            var document = try BinaryStore.document(of: data, showingAll: true)
            for index in document.objects.indices where document.objects[index].entityName.isEmpty {
                document.objects[index].entityName = StoreDocument.unnamed
            }
            if document.hasCoreDataLayout {
                document.declarations = StoreDeclarations(placesOf: document)
            } else if document.declarations.entities.isEmpty {
                document.declarations = StoreDeclarations(valuesOf: document)
            }
            return document
        }
    }

    static func read(_ url: URL) throws -> StoreDocument { try read(url, document(of:)) }

    static func read<Content>(_ url: URL, _ body: (Data) throws -> Content) throws -> Content {
        let data: Data
        do { data = try Data(contentsOf: url) } catch {
            throw self.error(CocoaError.Code.fileReadUnknown.rawValue, "cannot be read", error, url)
        }
        do { return try body(data) } catch { throw damaged(url, error) }
    }

    /// Replaces a file, whose lock the caller has, by a copy of another one.
    static func write(from source: URL, to destination: URL) throws {
        guard try FileState(of: source) != nil else { throw missing(source) }
        _ = try read(source)
        try AtomicFile.write(Data(contentsOf: source), to: destination)
    }

    /// Compares the identifiers of a file's version with those of the model: values without names can be read with
    /// another version that has as many attributes.
    ///
    /// - Returns: whether they agree; nil if one of them has none.
    /// - Throws: 134100 if they do not.
    static func checkIdentifiers(
        of model: NSManagedObjectModel, _ metadata: [String: Any], _ url: URL
    ) throws -> Bool? {
        let known = Set(model.versionIdentifiers.compactMap { $0.base as? String }).subtracting([""])
        let list = metadata[NSStoreModelVersionIdentifiersKey]
        let stored = Set(list as? [String] ?? (list as? Set<String>).map { Array($0) } ?? []).subtracting([""])
        if known.isEmpty || stored.isEmpty { return nil }
        guard known.isDisjoint(with: stored) else { return true }
        func text(_ identifiers: Set<String>) -> String { identifiers.sorted().joined(separator: ", ") }
        throw misfit(
            url, FileValues.Failure(reason: "it is of version “\(text(stored))”, and the model of “\(text(known))”"))
    }

    static func missing(_ url: URL) -> NSError {
        StoreError.make(CocoaError.Code.fileReadNoSuchFile.rawValue, "There is no store “\(url.path)”.", url: url)
    }

    static func misfit(_ url: URL?, _ failure: FileValues.Failure) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreIncompatibleVersionHash,
            "The model does not fit the store “\(url?.lastPathComponent ?? "")”: \(failure.reason). Open it with the version "
                + "of the model that made it, or migrate it.", url: url)
    }

    static func damaged(_ url: URL?, _ error: any Error) -> NSError {
        self.error(CocoaError.Code.fileReadCorruptFile.rawValue, "is damaged, or no such store", error, url)
    }

    static func error(_ code: Int, _ what: String, _ error: any Error, _ url: URL?) -> NSError {
        let reason = (error as? FileValues.Failure)?.reason ?? (error as NSError).localizedDescription
        return StoreError.make(
            code,
            "The \(formatName) store “\(url?.lastPathComponent ?? "")” \(what): \(reason).",
            url: url, underlying: error is FileValues.Failure ? nil : error)
    }
}
