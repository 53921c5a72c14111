import CoreData
import StoreReading

/// How a property differs from the one that it comes from, in phrases. Pure.
enum PropertyComparison {
    /// What a new property is.
    static func description(of property: PropertyDocument) -> [String] {
        var phrases: [String] = []
        switch property.kind {
        case .attribute(let attribute):
            phrases.append(TypeName.of(attribute.type))
            if attribute.derivation != nil { phrases.append("derived") }
        case .relationship(let relationship):
            phrases.append("\(relationship.arity) → \(relationship.destinationName ?? "?")")
        case .fetched(let request): phrases.append("fetches \(request?.entityName ?? "?")")
        }
        if property.isOptional { phrases.append("optional") }
        if property.isTransient { phrases.append("transient") }
        if let value = property.attribute?.defaultValue { phrases.append(EntityText.text(ofDefault: value)) }
        return phrases
    }

    /// What becomes different; empty where nothing does.
    static func phrases(
        _ former: PropertyDocument, _ property: PropertyDocument, _ entityNames: [String: String]
    ) -> [String] {
        var phrases = former.name == property.name ? [] : ["was \(former.name)"]
        switch (former.kind, property.kind) {
        case (.attribute(let old), .attribute(let new)): phrases += self.phrases(old, new)
        case (.relationship(let old), .relationship(let new)): phrases += self.phrases(old, new, entityNames)
        case (.fetched(let old), .fetched(let new)): if old != new { phrases.append("fetch request changed") }
        default: return phrases + description(of: property)
        }
        if former.isOptional != property.isOptional {
            phrases.append(property.isOptional ? "now optional" : "now mandatory")
        }
        if former.isTransient != property.isTransient {
            phrases.append(property.isTransient ? "now transient" : "no longer transient")
        }
        if former.versionHashModifier != property.versionHashModifier {
            phrases.append(
                "hash modifier \(former.versionHashModifier ?? "none") → \(property.versionHashModifier ?? "none")")
        }
        if former.validation != property.validation { phrases.append("validation changed") }
        if former.userInfo != property.userInfo { phrases.append("user info changed") }
        return phrases
    }

    private static func phrases(_ old: AttributeDocument, _ new: AttributeDocument) -> [String] {
        var phrases: [String] = []
        if old.type != new.type {
            phrases.append("\(TypeName.of(old.type)) → \(TypeName.of(new.type))")
        }
        if old.typedDefault != new.typedDefault {
            phrases.append(new.defaultValue.map(EntityText.text(ofDefault:)) ?? "no default")
        }
        if old.derivation?.canonical != new.derivation?.canonical { phrases.append("derivation changed") }
        if old.valueTransformerName != new.valueTransformerName {
            phrases.append("transformer \(old.valueTransformerName ?? "none") → \(new.valueTransformerName ?? "none")")
        }
        if old.allowsExternalStorage != new.allowsExternalStorage {
            phrases.append(new.allowsExternalStorage ? "large values in files" : "large values in the store")
        }
        if old.preservesValueOnDeletion != new.preservesValueOnDeletion {
            phrases.append("\(new.preservesValueOnDeletion ? "" : "not ")kept in the history of deleted objects")
        }
        if !haveSameElements(old.elements, new.elements) { phrases.append("elements changed") }
        return phrases
    }

    private static func haveSameElements(_ old: [PropertyDocument], _ new: [PropertyDocument]) -> Bool {
        old.map(\.name) == new.map(\.name) && zip(old, new).allSatisfy { phrases($0, $1, [:]).isEmpty }
    }

    private static func phrases(
        _ old: RelationshipDocument, _ new: RelationshipDocument, _ entityNames: [String: String]
    ) -> [String] {
        var phrases: [String] = []
        if old.arity != new.arity { phrases.append("\(old.arity) → \(new.arity)") }
        if old.destinationName != new.destinationName.map({ entityNames[$0] ?? $0 }) {
            phrases.append("leads to \(new.destinationName ?? "?") instead of \(old.destinationName ?? "?")")
        }
        if old.inverseName != new.inverseName {
            phrases.append("inverse \(old.inverseName ?? "none") → \(new.inverseName ?? "none")")
        }
        if old.deleteRule != new.deleteRule { phrases.append("delete rule changed") }
        if old.isToMany, new.isToMany, (old.minCount, max(old.maxCount, 0)) != (new.minCount, max(new.maxCount, 0)) {
            phrases.append("counts changed")
        }
        return phrases
    }
}

extension RelationshipDocument {
    fileprivate var arity: String { isToMany ? (isOrdered ? "to many, ordered" : "to many") : "to one" }
}

extension AttributeDocument {
    /// The default value as the attribute's type has it: sources write `NO` where compiled models have the number 0,
    /// `1` where they have 1.0.
    fileprivate var typedDefault: ModelValue? {
        switch (type, defaultValue) {
        case (.booleanAttributeType, .integer(let number)): .boolean(number != 0)
        case (.doubleAttributeType, .integer(let number)), (.floatAttributeType, .integer(let number)):
            .double(Double(number))
        case (.floatAttributeType, .double(let number)): .double(Double(Float(number)))
        case (.decimalAttributeType, .integer(let number)): .decimal(Decimal(number))
        case (.decimalAttributeType, .double(let number)): .decimal(Decimal(number))
        case (.integer16AttributeType, .boolean(let flag)), (.integer32AttributeType, .boolean(let flag)),
            (.integer64AttributeType, .boolean(let flag)):
            .integer(flag ? 1 : 0)
        case (.integer16AttributeType, .double(let number)), (.integer32AttributeType, .double(let number)),
            (.integer64AttributeType, .double(let number)):
            Int64(exactly: number).map(ModelValue.integer) ?? .double(number)
        default: defaultValue
        }
    }
}
