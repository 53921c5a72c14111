import Foundation
import ModelFiles

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
            .sorted { $0.key < $1.key }
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

extension FileValues {
    /// An attribute's value in a keyed archive; `nil` for none. Without its attribute, any value is shown.
    static func fileValue(_ value: ArchivedValue, of attribute: AttributeLayout?) throws -> StoreDocument.FileValue? {
        let isTransformable = attribute?.type == .transformableAttributeType
        switch value {
        case .null: return nil
        case .plain(.data(let data)): return .data(try isArchived(attribute) ? archived(.data(data)) : data)
        case .plain(let plain) where isTransformable:
            return .data(try archived(plain))
        case .plain(.string(let text)): return .text(text)
        case .plain(.integer(let number)):
            return attribute?.type == .decimalAttributeType ? .text("\(number)") : .integer(number)
        case .plain(.boolean(let flag)): return .integer(flag ? 1 : 0)
        case .plain(.real(let number)):
            return attribute?.type == .decimalAttributeType ? .text("\(number)") : .double(number)
        case .plain(let other): throw Failure(reason: "its value is \(other.kind)")
        case .object(let object):
            if object.isKind(of: "NSNull") { return nil }
            switch isTransformable && !object.isKind(of: "NSData") ? nil : try object.foundationValue(depth: 64) {
            case let text as String: return .text(text)
            case let number as NSDecimalNumber:
                return number == .notANumber ? nil : .text(number.description(withLocale: nil))
            case let data as Data: return .data(try isArchived(attribute) ? archived(.data(data)) : data)
            case let date as Date: return .double(date.timeIntervalSinceReferenceDate)
            case let uuid as UUID: return .text(uuid.uuidString)
            case let url as URL: return .text(url.absoluteString)
            default: return .data(try object.archivedAlone())
            }
        }
    }

    /// Whether bytes are a transformable value themselves: without a transformer, the file has the value as it is.
    private static func isArchived(_ attribute: AttributeLayout?) -> Bool {
        guard let attribute, attribute.type == .transformableAttributeType else { return false }
        return TransformableCoding.archivesValues(of: attribute)
    }

    private static func archived(_ plain: PropertyList) throws -> Data {
        var builder = KeyedArchiveBuilder()
        let root = builder.scalar(plain)
        return try builder.archive(root: root).data()
    }

    /// The value for a keyed archive, in the class that Core Data has for the attribute's type.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - attribute: the attribute.
    ///   - isPlain: whether the bytes of a transformable value stand there themselves, even if they are an archive.
    ///   - builder: the archive.
    /// - Returns: the value, or a reference to it in the archive.
    /// - Throws: the errors of the archive.
    static func archived(
        _ value: StoreDocument.FileValue?, of attribute: AttributeLayout, isPlain: Bool,
        in builder: inout KeyedArchiveBuilder
    ) throws -> PropertyList {
        switch (value, attribute.type) {
        case (nil, _): return try builder.foundationValue(NSNull())
        case (.double(let number), .dateAttributeType):
            return try builder.foundationValue(Date(timeIntervalSinceReferenceDate: number))
        case (.text(let text), .UUIDAttributeType): return try builder.foundationValue(UUID(uuidString: text))
        case (.text(let text), .URIAttributeType): return try builder.foundationValue(URL(string: text))
        case (.text(let text), .decimalAttributeType):
            return try builder.foundationValue(NSDecimalNumber(string: text))
        case (.data(let data), .transformableAttributeType) where !isPlain:
            // The value itself is in the archive, unless it is bytes of a transformer's own.
            switch try? KeyedArchive(data: data).rootValue() {
            case .object(let root): return builder.add(try KeyedArchiveFragment(root))
            case .plain(let plain) where plain.arrayValue == nil && plain.dictionaryValue == nil:
                return builder.scalar(plain)
            case .plain, .null, nil: return builder.scalar(.data(data))
            }
        case (.text(let text), _): return builder.string(text)
        case (.integer(let number), _): return builder.scalar(.integer(number))
        case (.double(let number), _): return builder.scalar(.real(number))
        case (.data(let data), _): return builder.scalar(.data(data))
        }
    }

    /// Whether a value can be one of an attribute. What only a transformer or much work tells is not tried.
    static func isPlausible(_ value: ArchivedValue, of attribute: AttributeLayout) -> Bool {
        if [.transformableAttributeType, .compositeAttributeType].contains(attribute.type) { return true }
        do {
            guard let found = try fileValue(value, of: attribute) else { return true }
            if found.byteCount > 1 << 16, attribute.type != .stringAttributeType { return true }
            _ = try storedValue(found, of: attribute, TransformableCoding.Options())
            return true
        } catch { return false }
    }
}

/// Counts the bytes of values that are made for each place: objects of a small file may share a large value, which
/// would be copied for each.
struct CopiedBytes {
    private var total = 0
    private let limit: Int

    init(of document: StoreDocument) { limit = CopyLimit.bytes(of: document.byteCount) }

    /// - Throws: the reason, if objects share large values too often.
    mutating func count(
        _ value: StoreDocument.FileValue, from source: ArchivedValue, _ attribute: AttributeLayout?
    ) throws(FileValues.Failure) {
        switch (source, attribute?.type) {
        // Texts and data share the archive's memory.
        case (.plain(.string), .stringAttributeType), (.plain(.data), .binaryDataAttributeType), (.plain, nil): return
        case (.object(let object), .stringAttributeType) where object.isKind(of: "NSString"): return
        case (.object(let object), .binaryDataAttributeType) where object.isKind(of: "NSData"): return
        default: total += value.byteCount
        }
        if total > limit { throw FileValues.Failure(reason: CopyLimit.reason(limit)) }
    }
}

extension StoreDocument.FileValue {
    fileprivate var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .data(let data): data.count
        case .integer, .double: 0
        }
    }
}
