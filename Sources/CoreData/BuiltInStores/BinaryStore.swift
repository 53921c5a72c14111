import Foundation
import ModelFiles

/// A store in one binary file. A file of Core Data on macOS keeps its layout; new ones are keyed archives of our own,
/// which name what they hold.
package final class BinaryStore: DocumentStore, @unchecked Sendable {
    // @unchecked Sendable: used only under the coordinator's lock, like its superclass.

    package override var type: String { NSBinaryStoreType }

    override class var formatName: String { "binary" }

    override class func document(of data: Data) throws -> StoreDocument { try document(of: data, showingAll: false) }

    /// The content of a file.
    ///
    /// - Parameters:
    ///   - data: the file.
    ///   - showingAll: whether metadata that are damaged are left out.
    /// - Returns: its objects and its metadata.
    /// - Throws: the reason why it is no such file.
    class func document(of data: Data, showingAll: Bool) throws -> StoreDocument {
        var document = try explaining {
            CoreDataBinaryFile.isOne(data)
                ? try CoreDataBinaryFile.document(of: data, showingAll: showingAll)
                : try BinaryStoreArchive.document(of: data)
        }
        document.metadata = identified(document.metadata, data)
        return document
    }

    /// Metadata with a UUID, also where the file has none.
    private static func identified(_ metadata: [String: Any], _ data: Data) -> [String: Any] {
        if metadata[NSStoreUUIDKey] is String { return metadata }
        return metadata.merging([NSStoreUUIDKey: StoreDocument.uuid(of: data)]) { $1 }
    }

    override class func metadata(of data: Data) throws -> [String: Any] {
        guard CoreDataBinaryFile.isOne(data) else { return try super.metadata(of: data) }
        return identified(try explaining { try CoreDataBinaryFile.metadata(of: data) }, data)
    }

    private class func explaining<Content>(_ read: () throws -> Content) throws -> Content {
        do { return try read() } catch let failure as FileValues.Failure { throw failure } catch {
            throw FileValues.Failure(reason: "\(error)")
        }
    }

    override class func data(
        of document: StoreDocument, entities: [String: EntityLayout], order: PlaceOrder
    ) throws -> Data {
        document.hasCoreDataLayout
            ? try CoreDataBinaryFile.data(of: document, entities: entities, order: order)
            : try BinaryStoreArchive.data(of: document, entities: entities)
    }

    override class func replacingMetadata(
        of document: StoreDocument, in data: Data, by metadata: [String: Any]
    ) throws -> Data {
        document.hasCoreDataLayout
            ? try CoreDataBinaryFile.replacingMetadata(in: data, by: metadata)
            : try super.replacingMetadata(of: document, in: data, by: metadata)
    }
}

/// The keyed archive of a binary store. Reading it creates no object of a class that the archive names.
///
/// The root, a `PippinStore`, has `version`, `metadata` (a property list), `lastKey`, `objects`, and `declarations` (a
/// property list as well: what tools without a model read the values by). Each `PippinObject` has the `entity`, the
/// `key`, the attributes as `a.<name>`, and the relationships as `r.<name>`, which are arrays of keys.
enum BinaryStoreArchive {
    private static let version: Int64 = 1
    private static let storeClass = "PippinStore"
    private static let objectClass = "PippinObject"

    /// - Parameters:
    ///   - document: the store's metadata and objects.
    ///   - entities: the store's entities; none if there is no model, and the declarations are those of the document.
    /// - Returns: the content of the file.
    /// - Throws: an error for metadata that are not a property list.
    static func data(of document: StoreDocument, entities: [String: EntityLayout]) throws -> Data {
        var builder = KeyedArchiveBuilder()
        let root = builder.reserve()
        let objects = document.objects.map { object -> PropertyList in
            var fields: [String: PropertyList] = [
                "entity": builder.string(object.entityName), "key": .integer(object.key),
            ]
            for (name, value) in object.attributes {
                fields["a." + name] =
                    switch value {
                    case .text(let text): builder.string(text)
                    case .integer(let number): .integer(number)
                    case .double(let number): .real(number)
                    case .data(let data): .data(data)
                    }
            }
            for (name, keys) in object.relationships where !keys.isEmpty {
                fields["r." + name] = builder.array(keys.map { builder.scalar(.integer($0)) })
            }
            return builder.add(classNames: [objectClass, "NSObject"], fields: fields)
        }
        let metadata: Data
        do {
            metadata = try PropertyList(foundationObject: document.metadata).binaryData()
        } catch { throw FileValues.Failure(reason: "its metadata are not a property list: \(error.description)") }
        var fields: [String: PropertyList] = [
            "version": .integer(version), "metadata": .data(metadata), "lastKey": .integer(document.lastKey),
            "objects": builder.array(objects),
        ]
        let declarations = entities.isEmpty ? document.declarations : StoreDeclarations(of: entities)
        if !declarations.entities.isEmpty {
            fields["declarations"] = .data(
                try PropertyList(foundationObject: declarations.propertyList).binaryData())
        }
        builder.fill(root, classNames: [storeClass, "NSObject"], fields: fields)
        return try builder.archive(root: root).data()
    }

    static func document(of data: Data) throws -> StoreDocument {
        let root = try KeyedArchive(data: data).root()
        guard root.className == storeClass, try root.integer(forKey: "version") == version else {
            throw FileValues.Failure(
                reason: "its root is “\(root.className)”, not “\(storeClass)”")
        }
        var document = StoreDocument(lastKey: try root.integer(forKey: "lastKey"))
        guard case .plain(.data(let bytes)) = try root.value(forKey: "metadata"),
            let list = try? PropertyList.foundationObject(of: bytes) as? [String: Any]
        else { throw FileValues.Failure(reason: "its metadata are not a property list") }
        document.metadata = list
        document.metadata[NSStoreTypeKey] = NSBinaryStoreType
        // Only tools need these: values are read by the model.
        if root.keys.contains("declarations"), case .plain(.data(let bytes)) = try root.value(forKey: "declarations"),
            let list = try? PropertyList.foundationObject(of: bytes) as? [String: [String: Any]]
        {
            document.declarations = StoreDeclarations(propertyList: list)
        }
        for object in try root.optionalObjects(forKey: "objects") ?? [] { document.objects.append(try read(object)) }
        return document
    }

    private static func read(_ archived: ArchivedObject) throws -> StoreDocument.Object {
        var object = StoreDocument.Object(
            entityName: try archived.string(forKey: "entity"), key: try archived.integer(forKey: "key"))
        guard object.key > 0 else { throw FileValues.Failure(reason: "an object has the key \(object.key)") }
        for key in archived.keys {
            let name = String(key.dropFirst(2))
            if key.hasPrefix("a.") {
                object.attributes.append((name, try value(archived, key)))
            } else if key.hasPrefix("r.") {
                let keys = try (archived.optionalElements(forKey: key) ?? []).compactMap(\.integer)
                object.relationships.append((name, keys))
            }
        }
        return object
    }

    private static func value(_ archived: ArchivedObject, _ key: String) throws -> StoreDocument.FileValue {
        switch try archived.value(forKey: key) {
        case .plain(.string(let text)): return .text(text)
        case .plain(.integer(let number)): return .integer(number)
        case .plain(.boolean(let flag)): return .integer(flag ? 1 : 0)
        case .plain(.real(let number)): return .double(number)
        case .plain(.data(let data)): return .data(data)
        case let value: throw archived.error(key, expected: "a string, number or data", found: value.kind)
        }
    }
}

extension ArchivedValue {
    fileprivate var integer: Int64? {
        if case .plain(.integer(let number)) = self { return number }
        return nil
    }
}
