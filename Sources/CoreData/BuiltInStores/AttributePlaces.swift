import Foundation
import KeyedArchives
import Ordering

/// Names the values in a binary store of Core Data on macOS, which has them by place.
struct AttributePlaces {
    /// The attributes by entity, where the file has values by place. A transient one has a place, and no value.
    private var slots: [String: [SlotLayout]] = [:]
    private var copies: CopiedBytes

    /// The places of the file, which its next save keeps.
    private(set) var order = PlaceOrder()

    /// - Parameters:
    ///   - document: the file.
    ///   - entities: the entities by their names in the file.
    ///   - showsAll: whether objects may have fewer values, or more, than their entity has properties.
    /// - Throws: the object whose values do not fit its entity.
    init(
        of document: StoreDocument, _ entities: [String: EntityLayout], showsAll: Bool
    ) throws(FileValues.Failure) {
        copies = CopiedBytes(of: document)
        let found = Dictionary(grouping: document.objects.filter { $0.places != nil }, by: \.entityName)
            .ordered { $0.key < $1.key }
            .compactMap { name, objects in entities[name].map { EntityPlaces(entity: $0, objects: objects) } }
        // Transient attributes have no values, and in most files only one of the two orders fits; in others, only one
        // of them gives each attribute values of its type.
        order.mixesTransients =
            found.lazy.compactMap { $0.onlyOrder { $0.fits($1) } }.last
            ?? found.lazy.compactMap { $0.onlyOrder { $0.fits($1) && $0.haveTypes($1) } }.last
        order.countsFetchedProperties = found.contains(where: \.haveFetchedProperties)
        for places in found {
            let slots = places.slots(mixingTransients: order.mixesTransients ?? false)
            if !showsAll, let object = places.misfit(slots) {
                throw FileValues.Failure(
                    reason: "object \(object.key) has places for \(object.places?.count ?? 0) properties, which are "
                        + "not those of the entity “\(object.entityName)”", isMisfit: true)
            }
            if order.mixesTransients == nil, let (attribute, object) = places.ambiguity {
                throw FileValues.Failure(
                    reason: "the file does not show whether the places of transient attributes are among the others "
                        + "or behind them, and so which value of object \(object.key) is "
                        + "“\(places.entity.name).\(attribute)”; on macOS, the store can be migrated to another type",
                    isAmbiguous: true)
            }
            self.slots[places.objects.first?.entityName ?? ""] = slots
        }
    }

    /// Gives the values of an object the names of the attributes.
    mutating func name(_ object: inout StoreDocument.Object, _ entity: EntityLayout) throws(FileValues.Failure) {
        guard let places = object.places else { return }
        object.attributes = []
        for (slot, value) in zip(slots[object.entityName] ?? [], places) where !slot.isTransient {
            guard let attribute = slot.attribute else { continue }
            guard attribute.type != .compositeAttributeType else {
                throw FileValues.Failure(reason: PlaceOrder.composite(attribute, entity))
            }
            let found: StoreDocument.FileValue?
            do { found = try FileValues.fileValue(value, of: attribute) } catch {
                let reason = (error as? FileValues.Failure)?.reason ?? "\(error)"
                throw FileValues.Failure(reason: "“\(attribute.name)” of object \(object.key): \(reason)")
            }
            guard let found else { continue }
            order.note(value, of: attribute, in: object)
            try copies.count(found, from: value, attribute)
            object.attributes.append((attribute.name, found))
        }
    }
}

/// The objects of an entity whose values have places.
private struct EntityPlaces {
    let entity: EntityLayout
    let objects: [StoreDocument.Object]

    func slots(mixingTransients mixes: Bool) -> [SlotLayout] { PlaceOrder.slots(of: entity, mixesTransients: mixes) }

    /// The only one of the two orders of transient attributes that a condition allows; nil if it allows both or none.
    func onlyOrder(_ isAllowed: (EntityPlaces, [SlotLayout]) -> Bool) -> Bool? {
        guard !entity.transientSlots.isEmpty else { return nil }
        let mixed = isAllowed(self, slots(mixingTransients: true))
        return mixed == isAllowed(self, slots(mixingTransients: false)) ? nil : mixed
    }

    func fits(_ slots: [SlotLayout]) -> Bool { misfit(slots) == nil }

    /// An object that does not have as many places as its entity has properties, and values for stored attributes only.
    func misfit(_ slots: [SlotLayout]) -> StoreDocument.Object? {
        let others = [entity.relationships.count, entity.relationships.count + entity.fetchedProperties.count]
        return objects.first { object in
            guard let places = object.places else { return false }
            return !others.contains(places.count - slots.count)
                || !zip(places, slots).allSatisfy { $1.isTransient ? $0.isNothing : true }
                || !places[slots.count...].allSatisfy(\.isNothing)
        }
    }

    /// Whether the attributes' values are of their types.
    func haveTypes(_ slots: [SlotLayout]) -> Bool {
        objects.allSatisfy { object in
            zip(object.places ?? [], slots).allSatisfy { value, slot in
                slot.isTransient || slot.attribute.map { FileValues.isPlausible(value, of: $0) } ?? true
            }
        }
    }

    /// Whether there are places for fetched properties.
    var haveFetchedProperties: Bool {
        guard !entity.fetchedProperties.isEmpty else { return false }
        let count = slots(mixingTransients: false).count + entity.relationships.count
        return objects.contains { ($0.places?.count ?? 0) > count }
    }

    /// An attribute that has other values in one order than in the other, and an object with such values.
    var ambiguity: (attribute: String, object: StoreDocument.Object)? {
        guard !entity.transientSlots.isEmpty else { return nil }
        let (mixed, behind) = (slots(mixingTransients: true), slots(mixingTransients: false))
        let pairs = mixed.enumerated().compactMap { place, slot in
            behind.firstIndex { $0.name == slot.name }.map { (name: slot.name, first: place, second: $0) }
        }
        for object in objects {
            guard let places = object.places else { continue }
            if let pair = pairs.first(where: { !places[$0.first].isSame(as: places[$0.second]) }) {
                return (pair.name, object)
            }
        }
        return nil
    }
}

extension ArchivedValue {
    fileprivate var isNothing: Bool {
        switch self {
        case .null: true
        case .plain: false
        case .object(let object): object.isKind(of: "NSNull")
        }
    }

    /// Whether both are nothing, equal, or one and the same object of the archive.
    fileprivate func isSame(as other: ArchivedValue) -> Bool {
        switch (self, other) {
        case (.plain(let one), .plain(let other)): one == other
        case (.object(let one), .object(let other)) where one.index == other.index: true
        default: isNothing && other.isNothing
        }
    }
}
