import Foundation
import KeyedArchives

/// The places of an object's values in a binary store of Core Data on macOS: the attributes, inherited ones first and
/// then by name, and after them a place without a value for each other property.
struct PlaceOrder {
    /// Whether transient attributes stand among the others, rather than behind them; `nil` if the file does not show
    /// it.
    var mixesTransients: Bool?
    /// Whether fetched properties have places, as relationships do.
    var countsFetchedProperties = false
    /// The transformable attributes whose values are bytes that a transformer made, in some objects of the file, by
    /// entity and attribute.
    private var bytes: [String: TransformedBytes] = [:]

    /// The objects in which an attribute's value is the bytes that its transformer made.
    private struct TransformedBytes {
        var keys: Set<Int64> = []
        /// Whether other objects have the value itself.
        var hasObjects = false
    }

    /// Remembers the form of a transformable value.
    mutating func note(_ value: ArchivedValue, of attribute: AttributeLayout, in object: StoreDocument.Object) {
        guard attribute.type == .transformableAttributeType else { return }
        let isBytes =
            switch value {
            case .plain(.data): true
            case .object(let object): object.isKind(of: "NSData")
            case .plain, .null: false
            }
        let place = "\(object.entityName).\(attribute.name)"
        if isBytes {
            bytes[place, default: TransformedBytes()].keys.insert(object.key)
        } else {
            bytes[place, default: TransformedBytes()].hasObjects = true
        }
    }

    /// Whether a value is written as bytes: in the form that the file has for it, or for all other objects.
    func isPlain(_ attribute: AttributeLayout, in object: StoreDocument.Object) -> Bool {
        guard let known = bytes["\(object.entityName).\(attribute.name)"], !known.keys.isEmpty,
            !TransformableCoding.archivesValues(of: attribute)
        else { return false }
        return !known.hasObjects || known.keys.contains(object.key)
    }

    /// How many places follow those of the attributes.
    func places(after entity: EntityLayout) -> Int {
        entity.relationships.count + (countsFetchedProperties ? entity.fetchedProperties.count : 0)
    }

    /// The attributes of an entity in the order of their values.
    ///
    /// - Throws: the attribute whose place is not known.
    func written(of entity: EntityLayout) throws(FileValues.Failure) -> [SlotLayout] {
        let slots = Self.slots(of: entity, mixesTransients: mixesTransients ?? false)
        if let composite = slots.lazy.compactMap(\.attribute).first(where: { $0.type == .compositeAttributeType }) {
            throw FileValues.Failure(reason: Self.composite(composite, entity))
        }
        if mixesTransients == nil, let transient = slots.first(where: \.isTransient),
            slots.map(\.name) != Self.slots(of: entity, mixesTransients: true).map(\.name)
        {
            throw FileValues.Failure(
                reason: "the file does not show the place of transient attributes such as "
                    + "“\(entity.name).\(transient.name)”; migrate the store to another type")
        }
        return slots
    }

    static func composite(_ attribute: AttributeLayout, _ entity: EntityLayout) -> String {
        "where binary files of Core Data on macOS have composite attributes such as “\(entity.name).\(attribute.name)” is not "
            + "known"
    }

    static func slots(of entity: EntityLayout, mixesTransients: Bool) -> [SlotLayout] {
        let slots = slotsByName(of: entity)
        return mixesTransients ? slots : slots.filter { !$0.isTransient } + slots.filter(\.isTransient)
    }

    private static func slotsByName(of entity: EntityLayout) -> [SlotLayout] {
        let inherited = entity.superentity.map(slotsByName) ?? []
        let own = entity.slots[(entity.superentity?.slots.count ?? 0)...].filter { $0.attribute != nil }
        return inherited + own.sorted { $0.name < $1.name }
    }

    /// Whether values without names belong to the same attributes in two versions of a model, which may have renamed
    /// them.
    static func isSame(
        in one: NSManagedObjectModel, _ other: NSManagedObjectModel, for entityNames: Set<String>
    ) -> Bool {
        guard let one = try? one.compiledLayout(), let other = try? other.compiledLayout() else { return false }
        return entityNames.allSatisfy { name in
            guard let entity = one.entityByName[name], let counterpart = other.entityByName[name] else { return false }
            let (slots, others) = (slotsByName(of: entity), slotsByName(of: counterpart))
            return zip(slots, others).allSatisfy { slot, other in
                slot.name == other.name
                    || (slot.attribute?.description.renamingIdentifier ?? slot.name)
                        == (other.attribute?.description.renamingIdentifier ?? other.name)
            }
        }
    }
}
