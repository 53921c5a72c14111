import Foundation
import StoreSession
import SyncPlanning

/// How a model's entities and properties are seen by a sync: made from the model alone, without the program's types.
///
/// A reference is a property of the row that has its column. A list in order, and one of two lists whose pairs are in a
/// table of their own, is a property of the row that has the list. The other end of each relationship follows from it.
/// The parts of a nested value are properties of their own.
struct SyncMapping: Sendable {
    /// An entity of the model.
    struct Entity: Sendable {
        /// The renaming identifier.
        let name: String
        let layout: EntityLayout
        /// The slot of the identifier.
        let keySlot: Int
        let key: AttributeLayout
        let properties: [Property]
        /// Whether some lead to rows.
        let hasReferences: Bool
        /// Whether new rows can be written alone: nothing at the ends of their references changes with them, and these
        /// ends can all be there before.
        fileprivate(set) var standsAlone = false

        fileprivate init(_ layout: EntityLayout, keySlot: Int, _ key: AttributeLayout, _ properties: [Property]) {
            name = layout.description.renamingIdentifier ?? layout.name
            (self.layout, self.keySlot, self.key, self.properties) = (layout, keySlot, key, properties)
            hasReferences = properties.contains { !$0.references.isEmpty }
        }
    }

    /// A property of an entity.
    struct Property: Sendable {
        /// The renaming identifier; for a part of a nested value, those that lead to it, with dots between them.
        let name: String
        /// The name under which the store, and its history, have it: that of the whole nested value for a part of one.
        let storedName: String
        let place: Place

        /// The relationship that the property is, if it is one.
        fileprivate var references: [RelationshipLayout] {
            switch place {
            case .attribute, .element: []
            case .reference(let relationship), .list(let relationship): [relationship]
            }
        }
    }

    /// Where a property's value is.
    enum Place: Sendable {
        case attribute(slot: Int, AttributeLayout)
        /// A part of a nested value: the names of the elements that lead to it, and the last one.
        case element(slot: Int, path: [String], AttributeLayout)
        case reference(RelationshipLayout)
        case list(RelationshipLayout)
    }

    let entities: [Entity]
    /// The entities in an order in which references lead to earlier ones, as far as there is one.
    let order: [Int]
    private let places: [String: Int]
    private let placesByLayout: [String: Int]

    /// - Parameter model: the model of a store.
    /// - Throws: ``SyncError`` for an entity without an identifier, and for relationships that cannot be synced.
    init(_ model: ModelLayout) throws {
        var entities = try model.entities.filter { !$0.isAbstract }.map(Self.entity)
        places = Dictionary(
            entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        placesByLayout = Dictionary(
            entities.enumerated().map { ($1.layout.name, $0) }, uniquingKeysWith: { first, _ in first })
        order = Self.order(entities, placesByLayout)
        let (order, placesByLayout) = (order, placesByLayout)
        for place in entities.indices {
            let own = order.firstIndex(of: place) ?? 0
            let references = entities[place].properties.flatMap(\.references)
            entities[place].standsAlone = references.allSatisfy { reference in
                guard !reference.isToMany, let inverse = reference.inverse, inverse.isToMany, !inverse.isOrdered else {
                    return false
                }
                return reference.destination.selfAndSubentities.allSatisfy { end in
                    placesByLayout[end.name].flatMap { order.firstIndex(of: $0) } ?? 0 < own
                }
            }
        }
        self.entities = entities
    }

    /// The properties of an entity that may lead to rows which come later in that order: lists, and references to the
    /// entity itself and to later ones.
    func lateProperties(of entity: Entity) -> Set<String> {
        let own = order.firstIndex { entities[$0].name == entity.name } ?? 0
        return Set(
            entity.properties.filter { property in
                switch property.place {
                case .attribute, .element: return false
                case .list: return true
                case .reference(let relationship):
                    return relationship.destination.selfAndSubentities.contains { end in
                        order.firstIndex { entities[$0].layout.name == end.name } ?? 0 >= own
                    }
                }
            }.map(\.name))
    }

    private static func order(_ entities: [Entity], _ places: [String: Int]) -> [Int] {
        var order: [Int] = []
        var seen: Set<Int> = []
        func visit(_ place: Int) {
            guard seen.insert(place).inserted else { return }
            for case .reference(let relationship) in entities[place].properties.map(\.place) {
                for end in relationship.destination.selfAndSubentities { places[end.name].map(visit) }
            }
            order.append(place)
        }
        for place in entities.indices { visit(place) }
        return order
    }

    subscript(name: String) -> Entity? { places[name].map { entities[$0] } }

    func entity(of layout: EntityLayout) -> Entity? { placesByLayout[layout.name].map { entities[$0] } }

    func place(of name: String) -> Int? { places[name] }

    // MARK: Making

    private static func entity(_ layout: EntityLayout) throws -> Entity {
        let single = layout.uniquenessConstraints.first { $0.count == 1 }
        guard let name = single?.first, let slot = layout.slotIndex(forName: name),
            let key = layout.slots[slot].attribute, SyncValues.isKey(key.type)
        else { throw SyncError.noIdentifier(entity: layout.name) }
        var properties: [Property] = []
        for (index, slotLayout) in layout.slots.enumerated() where index != slot && !slotLayout.isTransient {
            if let attribute = slotLayout.attribute {
                if attribute.derivation == nil { add(attribute, slot: index, to: &properties) }
            } else if let relationship = slotLayout.relationship, try isCarried(relationship) {
                properties.append(
                    Property(
                        name: Self.name(of: relationship.description), storedName: relationship.name,
                        place: .reference(relationship)))
            }
        }
        for relationship in layout.toManys where !relationship.isTransient {
            guard try isCarried(relationship) else { continue }
            properties.append(
                Property(
                    name: Self.name(of: relationship.description), storedName: relationship.name,
                    place: .list(relationship)))
        }
        if Set(properties.map(\.name)).count != properties.count {
            throw SyncError.sameIdentifiers(entity: layout.name)
        }
        return Entity(layout, keySlot: slot, key, properties)
    }

    private static func name(of property: NSPropertyDescription) -> String {
        property.renamingIdentifier ?? property.name
    }

    private static func add(_ attribute: AttributeLayout, slot: Int, to properties: inout [Property]) {
        let name = name(of: attribute.description)
        guard attribute.type == .compositeAttributeType else {
            properties.append(
                Property(name: name, storedName: attribute.name, place: .attribute(slot: slot, attribute)))
            return
        }
        let storedName = attribute.name
        func add(_ attribute: AttributeLayout, _ path: [String], _ name: String) {
            for element in attribute.elements {
                let (path, name) = (path + [element.name], "\(name).\(Self.name(of: element.description))")
                if element.type == .compositeAttributeType {
                    add(element, path, name)
                } else {
                    properties.append(
                        Property(
                            name: name, storedName: storedName, place: .element(slot: slot, path: path, element)))
                }
            }
        }
        add(attribute, [], name)
    }

    /// Whether a relationship is a property, rather than the other end of one.
    static func isCarried(_ relationship: RelationshipLayout) throws -> Bool {
        guard let inverse = relationship.inverse else {
            throw SyncError.noInverse(entity: relationship.source.name, relationship: relationship.name)
        }
        if inverse === relationship {
            throw SyncError.isOwnInverse(entity: relationship.source.name, relationship: relationship.name)
        }
        switch (relationship.isToMany, inverse.isToMany) {
        case (false, true): return true
        case (true, false): return relationship.isOrdered
        case (true, true):
            if relationship.isOrdered != inverse.isOrdered { return relationship.isOrdered }
        case (false, false):
            let (deletesThis, deletesOther) = (
                inverse.deleteRule == .cascadeDeleteRule, relationship.deleteRule == .cascadeDeleteRule
            )
            if deletesThis != deletesOther { return deletesThis }
        }
        return (relationship.source.name, relationship.name) < (inverse.source.name, inverse.name)
    }
}

/// A store's values as a sync sees them, and back. Pure.
enum SyncValues {
    /// Seconds from 1970 to 2001.
    private static let reference = 978_307_200.0

    /// - Parameters:
    ///   - value: a value of an attribute that is not composite.
    ///   - attribute: the attribute.
    /// - Returns: the value; nil for one that cannot be read here.
    static func value(_ value: StoredValue, _ attribute: AttributeLayout) -> SyncValue? {
        switch value {
        case .null: return .null
        case .integer(let number):
            switch attribute.type {
            case .booleanAttributeType: return .bool(number != 0)
            case .doubleAttributeType, .floatAttributeType: return .double(ExactDouble(Double(number)))
            default: return .integer(number)
            }
        case .double(let number): return .double(ExactDouble(number))
        case .string(let text): return .text(ExactText(text))
        case .date(let seconds):
            return .date(Int64(max(-9e18, min(9e18, ((seconds + reference) * 1_000_000).rounded()))))
        case .data(let data): return .bytes([UInt8](data))
        case .uuid(let uuid): return .text(ExactText(uuid.uuidString))
        case .identifier: return nil
        case .object(let object):
            if object is MissingExternalData { return nil }
            switch KeptValues.plain(value, attribute) {
            case let text as String:
                return attribute.type == .decimalAttributeType ? .decimal(digits(text)) : .text(ExactText(text))
            case let data as Data: return .bytes([UInt8](data))
            default: return nil
            }
        }
    }

    /// A decimal number without zeros at the end of its fraction, which databases add or leave out.
    private static func digits(_ text: String) -> String {
        guard text.contains("."), !text.contains(where: { $0 == "e" || $0 == "E" }) else { return text }
        var digits = Substring(text)
        while digits.hasSuffix("0") { digits = digits.dropLast() }
        return String(digits.hasSuffix(".") ? digits.dropLast() : digits)
    }

    /// The value that a store keeps.
    static func stored(_ value: SyncValue, _ attribute: AttributeLayout) -> StoredValue {
        switch value {
        case .null, .reference, .list, .set: .null
        case .bool(let flag): .integer(flag ? 1 : 0)
        case .integer(let number): .integer(number)
        case .double(let number): .double(number.value)
        case .decimal(let digits): .object(NSDecimalNumber(string: digits))
        case .date(let time): .date(Double(time) / 1_000_000 - reference)
        case .text(let text) where attribute.type == .stringAttributeType: .string(text.string)
        case .text(let text): KeptValues.stored(text.string, attribute)
        case .bytes(let bytes): KeptValues.stored(Data(bytes), attribute)
        }
    }

    // MARK: Identifiers

    /// Whether attributes of a type can be identifiers.
    static func isKey(_ type: NSAttributeType) -> Bool {
        switch type {
        case .stringAttributeType, .UUIDAttributeType, .integer16AttributeType, .integer32AttributeType,
            .integer64AttributeType, .URIAttributeType:
            true
        default: false
        }
    }

    /// The text of an identifier; nil for a row without one.
    static func text(ofKey value: StoredValue) -> String? {
        switch value {
        case .string(let text): text
        case .uuid(let uuid): uuid.uuidString
        case .integer(let number): String(number)
        case .object(let url as NSURL): (url as URL).absoluteString
        default: nil
        }
    }

    /// The identifier in a text; nil for a text that is none.
    static func key(_ text: String, _ attribute: AttributeLayout) -> StoredValue? {
        switch attribute.type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            return Int64(text).map { .integer($0) }
        case .stringAttributeType: return .string(text)
        default:
            let value = KeptValues.stored(text, attribute)
            return value.isNull ? nil : value
        }
    }
}

// Stores have rows and changes of their own. In files that use both, those of the planner have these names.
typealias PlannedRow = SyncPlanning.Row
typealias PlannedChange = SyncPlanning.RowChange
typealias PlannedTransaction = SyncPlanning.HistoryTransaction
