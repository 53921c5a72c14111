import CoreDataModel
import Foundation
import ModelFiles

/// A value that the history keeps of a row: an attribute's or a reference's, or a list of other rows.
package enum KeptValue: Equatable, @unchecked Sendable {
    // @unchecked Sendable: immutable; see StoredValue.
    case value(StoredValue)
    case list([NSManagedObjectID])
}

/// The values that rows had before they were changed or deleted, as bytes: a property list of values by property. Pure.
///
/// No value is an empty dictionary, a composite one a dictionary of its elements. A reference is the list of its
/// entity's name and its key; a list of rows is one of such lists.
package enum KeptValues {
    /// - Parameters:
    ///   - row: the row as it was.
    ///   - slots: the slots to keep.
    ///   - lists: the rows at the ends of to-many relationships, by the relationships' names.
    /// - Returns: the bytes.
    package static func data(
        of row: Row, slots: some Sequence<Int>, lists: [String: [NSManagedObjectID]] = [:]
    ) -> Data {
        var list: [String: Any] = lists.mapValues { $0.map(reference) }
        for slot in slots where isKept(slot, of: row.objectID.layout) {
            let layout = row.objectID.layout.slots[slot]
            if case .identifier(let identifier) = row.values[slot] {
                list[layout.name] = reference(identifier)
            } else {
                list[layout.name] =
                    layout.attribute.flatMap { plain(row.values[slot], $0) } ?? [String: Any]()
            }
        }
        // A list of texts, numbers, bytes, lists and dictionaries can always be written.
        return (try? PropertyList(foundationObject: list).binaryData()) ?? Data()
    }

    /// The slots of an entity whose values are kept. Values that may be outside the store are not.
    package static func slots(of layout: EntityLayout) -> [Int] {
        layout.slots.indices.filter { isKept($0, of: layout) }
    }

    /// The lists that are kept of rows which are deleted: those in order, and those whose pairs are in a table of their
    /// own. Of others the members say whose they are.
    ///
    /// - Parameter identifiers: the rows.
    /// - Returns: the relationships, each with the rows that have it.
    package static func lists(
        of identifiers: [NSManagedObjectID]
    ) -> [(relationship: RelationshipLayout, owners: [NSManagedObjectID])] {
        var owners: [ObjectIdentifier: (relationship: RelationshipLayout, owners: [NSManagedObjectID])] = [:]
        for identifier in identifiers {
            for relationship in identifier.layout.toManys
            where !relationship.isTransient && (relationship.isOrdered || relationship.isManyToMany) {
                owners[ObjectIdentifier(relationship), default: (relationship, [])].owners.append(identifier)
            }
        }
        return owners.values.sorted { $0.relationship.name < $1.relationship.name }
    }

    private static func isKept(_ slot: Int, of layout: EntityLayout) -> Bool {
        !layout.slots[slot].isTransient && !(layout.slots[slot].attribute?.allowsExternalStorage ?? false)
    }

    /// - Parameters:
    ///   - data: what `data(of:slots:lists:)` made.
    ///   - layout: the row's entity.
    ///   - store: the row's store.
    /// - Returns: the values by property. Properties that the entity does not have any more are left out.
    package static func values(
        _ data: Data, of layout: EntityLayout, in store: StoreIdentity
    ) -> [String: KeptValue] {
        guard let list = (try? PropertyList.foundationObject(of: data)) as? [String: Any] else { return [:] }
        var values: [String: KeptValue] = [:]
        for (name, value) in list {
            if let relationship = layout.relationship(named: name) {
                if relationship.isToMany {
                    guard let members = value as? [[Any]] else { continue }
                    values[name] = .list(members.compactMap { identifier($0, relationship.destination, store) })
                } else {
                    let member = (value as? [Any]).flatMap { identifier($0, relationship.destination, store) }
                    values[name] = .value(member.map { .identifier($0) } ?? .null)
                }
            } else if let slot = layout.slotIndex(forName: name), let attribute = layout.slots[slot].attribute {
                values[name] = .value(stored(value, attribute))
            }
        }
        return values
    }

    private static func reference(_ identifier: NSManagedObjectID) -> [Any] {
        [identifier.layout.name, NSNumber(value: identifier.key)]
    }

    private static func identifier(
        _ reference: [Any], _ destination: EntityLayout, _ store: StoreIdentity
    ) -> NSManagedObjectID? {
        guard reference.count == 2, let name = reference[0] as? String, let key = reference[1] as? NSNumber else {
            return nil
        }
        let layout = destination.selfAndSubentities.first { $0.name == name } ?? destination
        return NSManagedObjectID(layout: layout, store: store, key: key.int64Value)
    }

    /// A value as a property list has it; nil for no value.
    package static func plain(_ value: StoredValue, _ attribute: AttributeLayout) -> Any? {
        switch value {
        case .null, .identifier: return nil
        case .integer(let number): return NSNumber(value: number)
        case .double(let number), .date(let number): return NSNumber(value: number)
        case .string(let text): return text
        case .data(let data): return data
        case .uuid(let uuid): return uuid.uuidString
        case .object(let composite as CompositeValue):
            return attribute.elements.reduce(into: [String: Any]()) { elements, element in
                elements[element.name] = plain(composite.stored(element), element)
            }
        case .object(let object):
            if let url = object as? NSURL { return (url as URL).absoluteString }
            if let number = object as? NSDecimalNumber { return number.description(withLocale: nil) }
            return TransformableCoding.bytes(of: object, for: attribute)
        }
    }

    /// The value that `plain(_:_:)` made a part of a property list of.
    package static func stored(_ value: Any, _ attribute: AttributeLayout) -> StoredValue {
        switch attribute.type {
        case .dateAttributeType: (value as? NSNumber).map { .date($0.doubleValue) } ?? .null
        case .doubleAttributeType, .floatAttributeType: (value as? NSNumber).map { .double($0.doubleValue) } ?? .null
        case .UUIDAttributeType: (value as? String).flatMap { UUID(uuidString: $0) }.map { .uuid($0) } ?? .null
        case .URIAttributeType: (value as? String).flatMap { URL(string: $0) }.map { .object($0 as NSURL) } ?? .null
        case .decimalAttributeType: (value as? String).map { .object(NSDecimalNumber(string: $0)) } ?? .null
        case .stringAttributeType: (value as? String).map { .string($0) } ?? .null
        case .binaryDataAttributeType: (value as? Data).map { .data($0) } ?? .null
        case .transformableAttributeType:
            (value as? Data).map { TransformableCoding.value(of: $0, for: attribute) } ?? .null
        case .compositeAttributeType:
            .composite(
                attribute.elements.compactMap { element in
                    (value as? [String: Any])?[element.name].map { (element, stored($0, element)) }
                })
        default: (value as? NSNumber).map { .integer($0.int64Value) } ?? .null
        }
    }
}
