/// What a sync needs to know of a schema: properties, and the rules of conflicts. Pure.
///
/// Entities and properties are known by their renaming identifiers, so that a renamed property is the same property.
package struct SyncSchema: Hashable, Sendable {
    package var entities: [String: SyncEntity]

    package init(_ entities: [String: SyncEntity]) { self.entities = entities }

    /// The properties of each entity.
    package var properties: KnownProperties {
        KnownProperties(entities.mapValues { $0.properties.mapValues(\.kind) })
    }

    package func property(_ name: String, of entity: String) -> SyncProperty? { entities[entity]?.properties[name] }
}

/// An entity's part of a schema.
package struct SyncEntity: Hashable, Sendable {
    package var properties: [String: SyncProperty]
    package var uniques: [UniqueRule] = []
    package var whenDeleted: DeletedEditRule = .deletionWins
    package var scope: ScopeRule = .everybody

    package init(
        _ properties: [String: SyncProperty], uniques: [UniqueRule] = [], whenDeleted: DeletedEditRule = .deletionWins,
        scope: ScopeRule = .everybody
    ) {
        self.properties = properties
        self.uniques = uniques
        self.whenDeleted = whenDeleted
        self.scope = scope
    }
}

/// A property's part of a schema.
package struct SyncProperty: Hashable, Sendable {
    /// What the values are.
    package enum Kind: Hashable, Sendable {
        case value
        /// One row of another entity, and what happens to this row when that one is deleted.
        case reference(whenDeleted: DestinationDeletion)
        /// Rows in order.
        case list
        /// Values or rows without an order.
        case set
    }

    /// What happens to a row whose destination is deleted.
    package enum DestinationDeletion: Hashable, Sendable { case clear, deleteToo, refuse }

    package var kind: Kind
    package var isRequired: Bool
    /// What a row has that was made by a program without this property; nil if there is nothing to give.
    package var defaultValue: SyncValue?
    package var rule: MergeRule

    package init(
        _ kind: Kind = .value, isRequired: Bool = false, default defaultValue: SyncValue? = nil,
        rule: MergeRule = .laterEdit
    ) {
        self.kind = kind
        self.isRequired = isRequired
        self.defaultValue = defaultValue
        self.rule = rule
    }

    /// What a row without a value gets: the default, an empty collection, or null for what is optional.
    var initialValue: SyncValue? {
        if let defaultValue { return defaultValue }
        switch kind {
        case .list: return .list([])
        case .set: return .set([])
        case .value, .reference: return isRequired ? nil : .null
        }
    }
}

/// What becomes of a property that two sides have changed.
package enum MergeRule: Hashable, Sendable {
    /// The edit that was made later by the server's clock.
    case laterEdit
    /// The pushed value, or the server's.
    case mine, theirs
    /// Both differences are added to the former value.
    case sum
    case larger
    /// What is in either set, without what either side removed.
    case union
    /// Edits of a list, one after the other.
    case list
    /// The program's closure decides, on the device.
    case closure
}

/// Properties whose values no two rows share.
package struct UniqueRule: Hashable, Sendable {
    /// What becomes of a row whose values another row has.
    package enum WhenTaken: Hashable, Sendable {
        /// Both rows are one thing: the pushed row becomes the one that is there, and references follow.
        case join
        /// The program's closure gives the row other values, on the device.
        case rename
        /// The transaction is refused.
        case refuse
    }

    package var properties: [String]
    package var whenTaken: WhenTaken

    package init(_ properties: [String], whenTaken: WhenTaken) {
        self.properties = properties
        self.whenTaken = whenTaken
    }
}

/// What becomes of an edit of a row that another device has deleted.
package enum DeletedEditRule: Hashable, Sendable {
    /// The row stays deleted, and the edit goes to the journal.
    case deletionWins
    /// The row lives.
    case keepEdits
}

/// Where a row's scope is found.
package enum ScopeRule: Hashable, Sendable {
    case everybody
    /// The text in a property.
    case property(String)
    /// The scope of the row that a reference leads to.
    case owner(String)
}

/// The properties that a program knows, or that two programs both know.
package struct KnownProperties: Hashable, Sendable {
    package var kinds: [String: [String: SyncProperty.Kind]]

    package init(_ kinds: [String: [String: SyncProperty.Kind]]) { self.kinds = kinds }

    package func contains(_ property: String, of entity: String) -> Bool { kinds[entity]?[property] != nil }

    package func contains(_ entity: String) -> Bool { kinds[entity] != nil }

    /// The values that are known.
    package func part(of values: [String: SyncValue], in entity: String) -> [String: SyncValue] {
        guard let known = kinds[entity] else { return [:] }
        return values.filter { known[$0.key] != nil }
    }

    /// What both know. A property whose kind differs is not the same property.
    package func intersection(_ other: KnownProperties) -> KnownProperties {
        var common: [String: [String: SyncProperty.Kind]] = [:]
        for (entity, properties) in kinds {
            guard let others = other.kinds[entity] else { continue }
            common[entity] = properties.filter { others[$0.key] == $0.value }
        }
        return KnownProperties(common)
    }

    /// The properties that are here and not there.
    package func subtracting(_ other: KnownProperties) -> KnownProperties {
        var rest: [String: [String: SyncProperty.Kind]] = [:]
        for (entity, properties) in kinds {
            let others = other.kinds[entity]
            let missing = properties.filter { others?[$0.key] != $0.value }
            if !missing.isEmpty || others == nil { rest[entity] = missing }
        }
        return KnownProperties(rest)
    }

    package var isEmpty: Bool { kinds.isEmpty }
}

extension SyncSchema {
    /// The entities for which a program cannot make rows: they have required properties without a default that it does
    /// not know.
    package func unwritable(by known: KnownProperties) -> Set<String> {
        Set(
            entities.compactMap { name, entity in
                known.contains(name)
                    && entity.properties.contains { property, description in
                        description.initialValue == nil && !known.contains(property, of: name)
                    } ? name : nil
            })
    }
}
