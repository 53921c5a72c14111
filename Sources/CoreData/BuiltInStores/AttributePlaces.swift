import Foundation
import KeyedArchives
import Ordering

/// Names the values in a binary store of Core Data on macOS, which has them by place: the attributes, inherited ones first
/// and then by name, and after them a place without a value for each other property.
struct AttributePlaces {
    /// The attributes by entity, where the file has values by place. A transient one has a place, and no value.
    private var attributes: [String: [AttributeLayout]] = [:]
    private var transients: [String: Set<String>] = [:]

    /// Whether transient attributes stand among the others, rather than behind them; `nil` if the file does not show it.
    private(set) var mixesTransients: Bool?

    /// - Throws: the object whose values do not fit its entity.
    init(of document: StoreDocument, _ entities: [String: EntityLayout]) throws(FileValues.Failure) {
        let byEntity = Dictionary(grouping: document.objects.filter { $0.places != nil }, by: \.entityName)
        func fits(_ name: String, mixing: Bool) -> Bool {
            guard let entity = entities[name], let objects = byEntity[name] else { return false }
            let slots = Self.slots(of: entity, mixesTransients: mixing)
            return objects.allSatisfy { Self.fits($0, entity, slots) }
        }
        // Transient attributes have no values, and in most files only one of the two orders fits.
        for name in byEntity.keys where fits(name, mixing: true) != fits(name, mixing: false) {
            mixesTransients = fits(name, mixing: true)
        }
        for (name, objects) in byEntity.ordered(by: { $0.key < $1.key }) {
            guard let entity = entities[name] else { continue }
            transients[name] = Set(entity.transientSlots.map { entity.slots[$0].name })
            let slots = Self.slots(of: entity, mixesTransients: mixesTransients ?? false)
            if let object = objects.first(where: { !Self.fits($0, entity, slots) }) {
                throw FileValues.Failure(
                    reason: "object \(object.key) has places for \(object.places?.count ?? 0) properties, which are "
                        + "not those of the entity “\(name)”", isMisfit: true)
            }
            attributes[name] = slots.compactMap(\.attribute)
        }
    }

    /// Gives the values of an object the names of the attributes.
    func name(_ object: inout StoreDocument.Object, _ entity: EntityLayout) throws(FileValues.Failure) {
        guard let places = object.places else { return }
        object.attributes = []
        for (attribute, value) in zip(attributes[object.entityName] ?? [], places)
        where transients[object.entityName]?.contains(attribute.name) != true {
            guard attribute.type != .compositeAttributeType else {
                throw FileValues.Failure(reason: Self.composite(attribute, entity))
            }
            do {
                if let value = try FileValues.fileValue(value, of: attribute) {
                    object.attributes.append((attribute.name, value))
                }
            } catch { throw FileValues.Failure(reason: "“\(attribute.name)” of object \(object.key): \(error)") }
        }
    }

    /// The attributes of an entity in the order of their values.
    ///
    /// - Throws: the attribute whose place is not known.
    static func written(of entity: EntityLayout, mixesTransients: Bool?) throws(FileValues.Failure) -> [SlotLayout] {
        let slots = slots(of: entity, mixesTransients: mixesTransients ?? false)
        if let composite = slots.lazy.compactMap(\.attribute).first(where: { $0.type == .compositeAttributeType }) {
            throw FileValues.Failure(reason: Self.composite(composite, entity))
        }
        if mixesTransients == nil, let transient = slots.first(where: \.isTransient) {
            throw FileValues.Failure(
                reason: "the file does not show the place of transient attributes such as "
                    + "“\(entity.name).\(transient.name)”; migrate the store to another type")
        }
        return slots
    }

    private static func composite(_ attribute: AttributeLayout, _ entity: EntityLayout) -> String {
        "where binary files of Core Data on macOS have composite attributes such as “\(entity.name).\(attribute.name)” is not "
            + "known"
    }

    private static func slots(of entity: EntityLayout, mixesTransients: Bool = false) -> [SlotLayout] {
        let slots = slotsByName(of: entity)
        return mixesTransients ? slots : slots.filter { !$0.isTransient } + slots.filter(\.isTransient)
    }

    private static func slotsByName(of entity: EntityLayout) -> [SlotLayout] {
        let inherited = entity.superentity.map(slotsByName) ?? []
        let own = entity.slots[(entity.superentity?.slots.count ?? 0)...].filter { $0.attribute != nil }
        return inherited + own.ordered { $0.name < $1.name }
    }

    /// Whether an object has as many places as its entity has properties, and values for stored attributes only.
    private static func fits(_ object: StoreDocument.Object, _ entity: EntityLayout, _ slots: [SlotLayout]) -> Bool {
        guard let places = object.places else { return true }
        let others = entity.relationships.count
        guard [others, others + entity.fetchedProperties.count].contains(places.count - slots.count) else {
            return false
        }
        return zip(places, slots).allSatisfy { $1.isTransient ? isNull($0) : true }
            && places[slots.count...].allSatisfy(isNull)
    }

    private static func isNull(_ value: ArchivedValue) -> Bool {
        switch value {
        case .null: true
        case .plain: false
        case .object(let object): object.isKind(of: "NSNull")
        }
    }
}

extension FileValues {
    /// An attribute's value in a keyed archive; `nil` for none. Without its attribute, any value is shown.
    static func fileValue(_ value: ArchivedValue, of attribute: AttributeLayout?) throws -> StoreDocument.FileValue? {
        let isTransformable = attribute?.type == .transformableAttributeType
        switch value {
        case .null: return nil
        case .plain(.data(let data)): return .data(data)
        case .plain(let plain) where isTransformable:
            var builder = KeyedArchiveBuilder()
            return .data(try builder.archive(root: builder.scalar(plain)).data())
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
            case let data as Data: return .data(data)
            case let date as Date: return .double(date.timeIntervalSinceReferenceDate)
            case let uuid as UUID: return .text(uuid.uuidString)
            case let url as URL: return .text(url.absoluteString)
            default: return .data(try KeyedArchiveFragment(object).archive.data())
            }
        }
    }

    /// The value for a keyed archive, in the class that Core Data has for the attribute's type.
    static func archived(
        _ value: StoreDocument.FileValue?, of attribute: AttributeLayout, in builder: inout KeyedArchiveBuilder
    ) throws -> PropertyList {
        switch (value, attribute.type) {
        case (nil, _): return try builder.foundationValue(NSNull())
        case (.double(let number), .dateAttributeType):
            return try builder.foundationValue(Date(timeIntervalSinceReferenceDate: number))
        case (.text(let text), .UUIDAttributeType): return try builder.foundationValue(UUID(uuidString: text))
        case (.text(let text), .URIAttributeType): return try builder.foundationValue(URL(string: text))
        case (.text(let text), .decimalAttributeType):
            return try builder.foundationValue(NSDecimalNumber(string: text))
        case (.data(let data), .transformableAttributeType):
            // The object itself is in the archive, unless it is bytes of a transformer's own.
            guard let root = try? KeyedArchive(data: data).root() else { return builder.scalar(.data(data)) }
            return builder.add(try KeyedArchiveFragment(root))
        case (.text(let text), _): return builder.string(text)
        case (.integer(let number), _): return builder.scalar(.integer(number))
        case (.double(let number), _): return builder.scalar(.real(number))
        case (.data(let data), _): return builder.scalar(.data(data))
        }
    }
}
