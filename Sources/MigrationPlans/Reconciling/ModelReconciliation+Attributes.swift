import CoreDataModel

// Attributes of entities that the program names.
extension ModelReconciliation {
    mutating func reconcileAttributes(of entity: EntityDocument, _ former: EntityDocument) {
        let attributes = former.properties.filter { $0.attribute != nil && !$0.isTransient }
        let names = RenamingMatch.sources(
            of: entity.properties.filter { $0.attribute != nil }.map { Renameable($0.name, $0.renamingIdentifier) },
            in: attributes.map { Renameable($0.name, $0.renamingIdentifier) })
        let present = Dictionary(names.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        for attribute in attributes {
            guard let old = attribute.attribute else { continue }
            guard let successor = present[attribute.name].flatMap({ entity.property(named: $0) }),
                let new = successor.attribute
            else {
                // The mark of a list goes with the list, or with its being optional.
                guard !rules.removes(attribute.name, of: entity.name),
                    rules.derived[entity.name]?.values.contains(attribute.name) != true,
                    attribute.userInfo[NestedValueInfo.markedList] == nil
                else { continue }
                lose(attribute.name, of: former, gone(attribute, in: entity))
                continue
            }
            if successor.name != attribute.name, successor.renamingIdentifier == nil {
                lose(attribute.name, of: former, .renamedSince(successor.name))
            }
            if takesApart(
                old, successor, of: entity, former, path: attribute.name, present: successor.name)
            {
                continue
            }
            if Self.fillsIn(attribute, by: successor), !rules.narrows(successor.name, of: entity.name) {
                lose(attribute.name, of: former, .filledIn)
            }
            compare(old, new, of: entity, former, path: attribute.name, present: successor.name, isElement: false)
        }
        noteDerived(entity, former, names)
        for attribute in entity.properties {
            guard let new = attribute.attribute, new.defaultValue == nil, new.derivation == nil,
                new.type != .compositeAttributeType, derived[entity.name]?[attribute.name] == nil
            else { continue }
            let old = names[attribute.name].flatMap { former.property(named: $0) }
            require(attribute, old, of: former, isRelationship: false)
        }
    }

    /// Notes the new attributes whose values are made of an attribute of the store.
    private mutating func noteDerived(_ entity: EntityDocument, _ former: EntityDocument, _ names: [String: String]) {
        for (name, origin) in rules.derived[entity.name] ?? [:] {
            guard names[name] == nil, former.property(named: origin)?.attribute != nil else { continue }
            derived[entity.name, default: [:]][name] = origin
        }
    }

    /// Notes rows that would lack a required value.
    mutating func require(
        _ property: PropertyDocument, _ old: PropertyDocument?, of former: EntityDocument, isRelationship: Bool
    ) {
        guard !property.isOptional, !property.isTransient,
            !losses.contains(where: {
                $0.entity == former.name && [property.name, old?.name].contains($0.property)
            })
        else { return }
        if let old, !dropped.contains(old.name, of: former.name) {
            if old.isOptional { lose(old.name, of: former, .emptied(isRelationship: isRelationship)) }
        } else {
            lose(property.name, of: former, .unfilled(isRelationship: isRelationship))
        }
    }

    /// Whether an optional list or dictionary that is kept as JSON must have a value, and gets an empty one.
    private static func fillsIn(_ attribute: PropertyDocument, by successor: PropertyDocument) -> Bool {
        guard attribute.isOptional, !successor.isOptional, successor.userInfo[NestedValueInfo.coding] != nil,
            case .data(let empty)? = successor.attribute?.defaultValue
        else { return false }
        return ["[]", "{}"].contains(String(decoding: empty, as: UTF8.self))
    }

    /// The reason why the model no longer has a property.
    func gone(_ property: PropertyDocument, in entity: EntityDocument) -> ModelLoss.Reason {
        guard let other = entity.property(named: property.name) else { return .removed }
        return .changed(from: Self.spoken(property), to: Self.spoken(other))
    }

    static func spoken(_ property: PropertyDocument) -> String {
        if let attribute = property.attribute { return attribute.type.spokenName }
        guard let relationship = property.relationship else { return "fetched property" }
        let destination = relationship.destinationName ?? ""
        return relationship.isToMany
            ? (relationship.isOrdered ? "[\(destination)]" : "Set<\(destination)>") : destination
    }

    /// Whether a nested value that was stored as JSON gets columns of its own. It may lose what these do not take.
    private mutating func takesApart(
        _ old: AttributeDocument, _ successor: PropertyDocument, of entity: EntityDocument, _ former: EntityDocument,
        path: String, present: String
    ) -> Bool {
        guard old.type == .binaryDataAttributeType, successor.userInfo[NestedValueInfo.presence] != nil else {
            return false
        }
        if !rules.narrows(present, of: entity.name), !rules.removes(path, of: entity.name) {
            lose(path, of: former, .otherParts(NestedParts(successor.attribute?.elements ?? [])))
        }
        return true
    }

    private mutating func compare(
        _ old: AttributeDocument, _ new: AttributeDocument, of entity: EntityDocument, _ former: EntityDocument,
        path: String, present: String, isElement: Bool
    ) {
        let fit = AttributeFit(old.type, in: new.type)
        if fit == .differs || (fit == .narrows && !rules.narrows(present, of: entity.name)) {
            if !isElement, rules.removes(path, of: entity.name) {
                dropped.insert(path, of: former.name)
                return
            }
            let (from, to) = (old.type.spokenName, new.type.spokenName)
            lose(path, of: former, fit == .differs ? .changed(from: from, to: to) : .narrowed(from: from, to: to))
        }
        guard old.type == .compositeAttributeType, new.type == .compositeAttributeType else { return }
        let names = RenamingMatch.sources(
            of: new.elements.map { Renameable($0.name, $0.renamingIdentifier) },
            in: old.elements.map { Renameable($0.name, $0.renamingIdentifier) })
        for element in old.elements {
            guard let oldElement = element.attribute else { continue }
            // The information of a mark is also in the value's columns, or in other marks.
            if element.userInfo[NestedValueInfo.mark] != nil { continue }
            let newElement = new.elements.first { names[$0.name] == element.name }
            let elementPath = "\(path).\(element.name)"
            let elementPresent = "\(present).\(newElement?.name ?? element.name)"
            if let newElement, newElement.name != element.name, newElement.renamingIdentifier == nil {
                lose(elementPath, of: former, .renamedSince("\(present).\(newElement.name)"))
            }
            if let newElement,
                takesApart(oldElement, newElement, of: entity, former, path: elementPath, present: elementPresent)
            {
                continue
            }
            if let newElement, Self.fillsIn(element, by: newElement), !rules.narrows(elementPresent, of: entity.name) {
                lose(elementPath, of: former, .filledIn)
            }
            if let newElement = newElement?.attribute {
                compare(
                    oldElement, newElement, of: entity, former, path: elementPath, present: elementPresent,
                    isElement: true)
            } else if !rules.removes(elementPath, of: entity.name) {
                lose(elementPath, of: former, .removed)
            }
        }
    }
}

/// Whether the values of one attribute type fit another type. Pure.
enum AttributeFit: Equatable {
    /// Every value fits.
    case fits
    /// Each value can be converted, but some lose precision.
    case narrows
    /// They cannot be converted.
    case differs

    init(_ stored: NSAttributeType, in new: NSAttributeType) {
        guard stored != new else {
            self = .fits
            return
        }
        guard let former = Self.reach(of: stored), let present = Self.reach(of: new) else {
            self = .differs
            return
        }
        self = present.isSuperset(of: former) ? .fits : .narrows
    }

    /// The range of a number type, divided into parts that types share; nil for anything but a number.
    private static func reach(of type: NSAttributeType) -> Set<Part>? {
        switch type {
        case .booleanAttributeType: [.bit]
        case .integer16AttributeType: [.bit, .short]
        case .integer32AttributeType: [.bit, .short, .word]
        case .integer64AttributeType: [.bit, .short, .word, .long]
        case .floatAttributeType: [.bit, .short, .float]
        case .doubleAttributeType: [.bit, .short, .word, .float, .double]
        case .decimalAttributeType: [.bit, .short, .word, .long, .decimal]
        default: nil
        }
    }

    private enum Part { case bit, short, word, long, float, double, decimal }
}

extension NSAttributeType {
    /// The type's name in messages: `String`, `Integer 64`.
    var spokenName: String {
        switch self {
        case .integer16AttributeType: "Int16"
        case .integer32AttributeType: "Int32"
        case .integer64AttributeType: "Int64"
        case .decimalAttributeType: "Decimal"
        case .doubleAttributeType: "Double"
        case .floatAttributeType: "Float"
        case .stringAttributeType: "String"
        case .booleanAttributeType: "Bool"
        case .dateAttributeType: "Date"
        case .binaryDataAttributeType: "Data (or JSON)"
        case .UUIDAttributeType: "UUID"
        case .URIAttributeType: "URL"
        case .transformableAttributeType: "transformable value"
        case .compositeAttributeType: "nested struct"
        default: "value of type \(rawValue)"
        }
    }
}
