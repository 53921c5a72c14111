public import Pippin
import StoreSession
import SyncPlanning

extension SchemaRule {
    /// What becomes of a property that two devices have changed. Without a rule the later edit stays, of arrays of
    /// models every insertion, move and removal, of sets of models every addition and removal.
    ///
    /// ```swift
    /// Schema(.merge(\.stock, .sum), .merge(\.readUpTo, .larger))
    /// ```
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - rule: the rule.
    /// - Returns: the rule, for ``Schema``.
    public static func merge<Value>(_ keyPath: KeyPath<Model, Value>, _ rule: SyncMerge) -> Self {
        .userInfo(keyPath, [SyncRules.merge: rule.rawValue])
    }

    /// What becomes of a change of a model that another device has deleted. Without a rule the model stays deleted, and
    /// the change is in ``StoreSync/refused()``.
    ///
    /// - Parameter rule: the rule.
    /// - Returns: the rule, for ``Schema``.
    public static func whenDeleted(_ rule: SyncDeletion) -> Self {
        .userInfo([SyncRules.whenDeleted: rule.rawValue])
    }

    /// The property that says which part of the data a model belongs to, such as a team or a user. A sync that is given
    /// scopes (`sync(with:scopes:)`) has the models of these, and those without a value,
    /// which are for everybody.
    ///
    /// ```swift
    /// Schema(.scope(\.team))      // a text, a number or a UUID; \.id where the model is itself such a part
    /// Schema(.scope(\.project))   // another model: the scope is that model's
    /// ```
    ///
    /// Models that another one owns (`Schema(.owns(…))`) have their owner's scope without a rule.
    ///
    /// - Parameter keyPath: the property.
    /// - Returns: the rule, for ``Schema``.
    public static func scope<Value>(_ keyPath: KeyPath<Model, Value>) -> Self {
        .userInfo(keyPath, [SyncRules.scope: SyncRules.scope])
    }
}

extension SchemaRule where Model: CoreModel {
    /// Merges models of which two devices have changed the same property, by a closure. It runs on the device that
    /// hears of the other's change, once for each conflict, and its result is an ordinary change of that device's.
    ///
    /// ```swift
    /// Schema(.merge { old, mine, theirs in
    ///     var merged = theirs
    ///     merged.note = theirs.note + "\n" + mine.note
    ///     return merged
    /// })
    /// ```
    ///
    /// It decides about single values and single models. Arrays and sets of models, and properties with a rule of their
    /// own, are merged by that. Its result is taken for the properties of the model itself; what the models within it
    /// have stays. It should only look at what it is given: a closure that ended the program twice is not asked again
    /// about that model, and one whose result cannot be saved is as none. The later edit stays then.
    ///
    /// - Parameter closure: makes one model of what it was (nil if both devices have made it), what it is on this
    ///   device, and what it is on the server.
    /// - Returns: the rule, for ``Schema``.
    public static func merge(
        _ closure: @escaping @Sendable (_ old: Model?, _ mine: Model, _ theirs: Model) -> Model
    ) -> Self {
        .userInfo([SyncRules.merge: SyncRules.closure]).attaching { _ in
            SchemaClosure(kind: .merge) { desk in
                guard let mine = try desk.model(Model.self, desk.mine),
                    let theirs = try desk.model(Model.self, desk.theirs)
                else { return nil }
                let old = try desk.old.flatMap { try desk.model(Model.self, $0) }
                return try desk.values(of: closure(old, mine, theirs), after: desk.theirs)
            }
        }
    }

    /// No two models have the same values of these properties, and a rule says what becomes of a model that one device
    /// has made while another one has made one with the same values.
    ///
    /// ```swift
    /// Schema(.unique(\.name, whenTaken: .join))   // two tags of one name, made on two devices, are one tag
    /// Schema(.unique(\.name, whenTaken: .rename { $0.name += " (2)" }))
    /// ```
    ///
    /// - Parameters:
    ///   - keyPaths: the properties.
    ///   - rule: the rule.
    /// - Returns: the rule, for ``Schema``.
    /// - SQL: `CREATE UNIQUE INDEX … ON Z<ENTITY> (<property>, …)`
    public static func unique(_ keyPaths: PartialKeyPath<Model>..., whenTaken rule: SyncTakenValue<Model>) -> Self {
        let unique = unique(keyPaths).adding { names in
            [SyncRules.whenTaken + names.joined(separator: ","): rule.name]
        }
        guard let rename = rule.rename else { return unique }
        return unique.attaching { names in
            SchemaClosure(kind: .rename(names)) { desk in
                guard var model = try desk.model(Model.self, desk.mine) else { return nil }
                rename(&model)
                return try desk.values(of: model, after: desk.mine)
            }
        }
    }
}

/// What becomes of a property that two devices have changed.
public enum SyncMerge: String, Sendable {
    /// The edit that was made later, by the server's clock.
    case laterEdit
    /// That of the device which comes later.
    case mine
    /// That of the device which came first.
    case theirs
    /// Both differences are added to the number as it was.
    case sum
    /// The larger value: of numbers, dates and texts.
    case larger
    /// Of a set of models: what either device has added, without what either has removed. It is the rule of sets
    /// without one.
    case union
}

/// What becomes of a change of a model that another device has deleted.
public enum SyncDeletion: String, Sendable {
    /// The model stays deleted.
    case deletionWins
    /// The model is there again.
    case keepEdits
}

/// What becomes of a new model whose values another one has already.
public struct SyncTakenValue<Model>: Sendable {
    let name: String
    var rename: (@Sendable (inout Model) -> Void)?

    /// The two become one: the one that came first stays, and what refers to the other one refers to it.
    public static var join: Self { Self(name: SyncRules.join) }

    /// The later one is not taken; see ``StoreSync/refused()``.
    public static var refuse: Self { Self(name: SyncRules.refuse) }

    /// The later one gets other values. The closure is asked again, up to sixteen times, while the new values are taken
    /// as well; then the model is not taken.
    ///
    /// - Parameter rename: gives the model other values.
    /// - Returns: the rule, for `Schema(.unique(…, whenTaken:))`.
    public static func rename(_ rename: @escaping @Sendable (inout Model) -> Void) -> Self {
        Self(name: SyncRules.rename, rename: rename)
    }
}

/// The rules of a sync, as a model has them: in the user info of entities and properties, which no version hash
/// depends on. ``SchemaRule`` writes them.
enum SyncRules {
    static let merge = "PippinSyncMerge"
    static let whenDeleted = "PippinSyncWhenDeleted"
    static let keepEdits = "keepEdits"
    /// Followed by the names of the properties that are unique together.
    static let whenTaken = "PippinSyncWhenTaken "
    static let scope = "PippinSyncScope"
    static let (closure, join, rename, refuse) = ("closure", "join", "rename", "refuse")

    /// - Parameter mapping: the entities and properties of a model.
    /// - Returns: the same with their rules.
    /// - Throws: ``SyncError`` for a rule that does not fit its property.
    static func schema(of mapping: SyncMapping) throws -> SyncSchema {
        var entities: [String: SyncEntity] = [:]
        for entity in mapping.entities { entities[entity.name] = try self.entity(entity) }
        // Owned rows are in the scope of their owner.
        var isNew = true
        while isNew {
            isNew = false
            for entity in mapping.entities where entities[entity.name]?.scope == .everybody {
                let owner = entity.properties.first { property in
                    guard case .reference(let relationship) = property.place,
                        relationship.inverse?.deleteRule == .cascadeDeleteRule,
                        let owner = mapping.entity(of: relationship.destination)
                    else { return false }
                    return entities[owner.name]?.scope != .everybody
                }
                guard let owner else { continue }
                entities[entity.name]?.scope = .owner(owner.name)
                isNew = true
            }
        }
        return SyncSchema(entities)
    }

    /// A number that differs from that of a model with other properties.
    static func version(of known: KnownProperties) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ text: String) {
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        }
        for (entity, properties) in known.kinds.sorted(by: { $0.key < $1.key }) {
            add(entity)
            for (property, kind) in properties.sorted(by: { $0.key < $1.key }) { add("\(property) \(kind)") }
        }
        return Int(hash >> 1)
    }

    /// The properties that are unique together, by their names in the store and as the planner has them.
    static func uniqueProperties(of entity: SyncMapping.Entity) -> [(stored: [String], names: [String])] {
        entity.layout.uniquenessConstraints.filter { $0 != [entity.key.name] }.compactMap { constraint in
            let names = constraint.compactMap { name in
                entity.properties.first {
                    if case .attribute(_, let attribute) = $0.place { attribute.name == name } else { false }
                }?.name
            }
            return names.count == constraint.count ? (constraint, names) : nil
        }
    }

    private static func entity(_ entity: SyncMapping.Entity) throws -> SyncEntity {
        let info = entity.layout.description.userInfo ?? [:]
        let merges = info[merge] as? String == closure
        var properties: [String: SyncProperty] = [:]
        for property in entity.properties {
            properties[property.name] = try self.property(
                property, of: entity, standard: merges ? .closure : .laterEdit)
        }
        var uniques: [UniqueRule] = []
        for (stored, names) in uniqueProperties(of: entity) {
            let whenTaken: UniqueRule.WhenTaken
            switch info[Self.whenTaken + stored.joined(separator: ",")] as? String {
            case join: whenTaken = .join
            case rename: whenTaken = .rename
            default: whenTaken = .refuse
            }
            uniques.append(UniqueRule(names, whenTaken: whenTaken))
        }
        return SyncEntity(
            properties, uniques: uniques,
            whenDeleted: info[whenDeleted] as? String == keepEdits ? .keepEdits : .deletionWins,
            scope: scope(of: entity))
    }

    private static func scope(of entity: SyncMapping.Entity) -> ScopeRule {
        func isScope(_ property: NSPropertyDescription) -> Bool { property.userInfo?[scope] != nil }
        if isScope(entity.key.description) { return .identifier }
        for property in entity.properties {
            switch property.place {
            case .attribute(_, let attribute) where isScope(attribute.description),
                .element(_, _, let attribute) where isScope(attribute.description):
                return .property(property.name)
            case .reference(let relationship) where isScope(relationship.description): return .owner(property.name)
            default: break
            }
        }
        return .everybody
    }

    private static func property(
        _ property: SyncMapping.Property, of entity: SyncMapping.Entity, standard: MergeRule
    ) throws -> SyncProperty {
        func rule(_ description: NSPropertyDescription, _ standard: MergeRule) throws -> MergeRule {
            let isSet = if case .list(let relationship) = property.place { !relationship.isOrdered } else { false }
            switch description.userInfo?[merge] as? String {
            case "mine": return .mine
            case "theirs": return .theirs
            case "sum": return .sum
            case "larger": return .larger
            case "laterEdit": return .laterEdit
            case "union":
                if !isSet { throw SyncError.noSet(entity: entity.layout.name, property: property.name) }
                return .union
            default: return standard
            }
        }
        switch property.place {
        case .attribute(_, let attribute):
            let description = attribute.description
            let initial = SyncValues.value(StoredValue(description.defaultValue, for: attribute), attribute) ?? .null
            return SyncProperty(
                isRequired: !description.isOptional, default: initial == .null ? nil : initial,
                rule: try rule(description, standard))
        case .element(_, _, let attribute):
            let initial =
                SyncValues.value(StoredValue(attribute.description.defaultValue, for: attribute), attribute) ?? .null
            return SyncProperty(
                default: initial == .null ? nil : initial, rule: try rule(attribute.description, standard))
        case .reference(let relationship):
            let deletion: SyncProperty.DestinationDeletion
            switch relationship.inverse?.deleteRule {
            case .cascadeDeleteRule: deletion = .deleteToo
            case .denyDeleteRule: deletion = .refuse
            default: deletion = .clear
            }
            return SyncProperty(
                .reference(whenDeleted: deletion), isRequired: !relationship.isOptional,
                rule: try rule(relationship.description, standard))
        case .list(let relationship):
            return relationship.isOrdered
                ? SyncProperty(.list, rule: try rule(relationship.description, .list))
                : SyncProperty(.set, rule: try rule(relationship.description, .union))
        }
    }
}
