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

    /// No two models have the same values of these properties, and a rule says what becomes of a model that one device
    /// has made while another one has made one with the same values.
    ///
    /// ```swift
    /// Schema(.unique(\.name, whenTaken: .join))   // two tags of one name, made on two devices, are one tag
    /// ```
    ///
    /// - Parameters:
    ///   - keyPaths: the properties.
    ///   - rule: the rule.
    /// - Returns: the rule, for ``Schema``.
    /// - SQL: `CREATE UNIQUE INDEX … ON Z<ENTITY> (<property>, …)`
    public static func unique(_ keyPaths: PartialKeyPath<Model>..., whenTaken rule: SyncTakenValue) -> Self {
        unique(keyPaths).adding { names in
            [SyncRules.whenTaken + names.joined(separator: ","): rule.rawValue]
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
}

/// What becomes of a change of a model that another device has deleted.
public enum SyncDeletion: String, Sendable {
    /// The model stays deleted.
    case deletionWins
    /// The model is there again.
    case keepEdits
}

/// What becomes of a new model whose values another one has already.
public enum SyncTakenValue: String, Sendable {
    /// The two become one: the one that came first stays, and what refers to the other one refers to it.
    case join
    /// The later one is not taken; see ``StoreSync/refused()``.
    case refuse
}

/// The rules of a sync, as a model has them: in the user info of entities and properties, which no version hash
/// depends on. ``SchemaRule`` writes them.
enum SyncRules {
    static let merge = "PippinSyncMerge"
    static let whenDeleted = "PippinSyncWhenDeleted"
    static let keepEdits = "keepEdits"
    /// Followed by the names of the properties that are unique together.
    static let whenTaken = "PippinSyncWhenTaken "

    static func entity(_ entity: SyncMapping.Entity) throws -> SyncEntity {
        var properties: [String: SyncProperty] = [:]
        for property in entity.properties { properties[property.name] = self.property(property) }
        let info = entity.layout.description.userInfo ?? [:]
        var uniques: [UniqueRule] = []
        for constraint in entity.layout.uniquenessConstraints where constraint != [entity.key.name] {
            let names = constraint.compactMap { name in
                entity.properties.first {
                    if case .attribute(_, let attribute) = $0.place { attribute.name == name } else { false }
                }?.name
            }
            guard names.count == constraint.count else { continue }
            let chosen = info[whenTaken + constraint.joined(separator: ",")] as? String
            uniques.append(UniqueRule(names, whenTaken: chosen == "join" ? .join : .refuse))
        }
        return SyncEntity(
            properties, uniques: uniques,
            whenDeleted: info[whenDeleted] as? String == keepEdits ? .keepEdits : .deletionWins)
    }

    private static func property(_ property: SyncMapping.Property) -> SyncProperty {
        switch property.place {
        case .attribute(_, let attribute):
            let description = attribute.description
            let initial = SyncValues.value(StoredValue(description.defaultValue, for: attribute), attribute) ?? .null
            return SyncProperty(
                isRequired: !description.isOptional, default: initial == .null ? nil : initial,
                rule: rule(description) ?? .laterEdit)
        case .element(_, _, let attribute):
            let initial =
                SyncValues.value(StoredValue(attribute.description.defaultValue, for: attribute), attribute) ?? .null
            return SyncProperty(
                default: initial == .null ? nil : initial, rule: rule(attribute.description) ?? .laterEdit)
        case .reference(let relationship):
            let deletion: SyncProperty.DestinationDeletion
            switch relationship.inverse?.deleteRule {
            case .cascadeDeleteRule: deletion = .deleteToo
            case .denyDeleteRule: deletion = .refuse
            default: deletion = .clear
            }
            return SyncProperty(
                .reference(whenDeleted: deletion), isRequired: !relationship.isOptional,
                rule: rule(relationship.description) ?? .laterEdit)
        case .list(let relationship):
            return relationship.isOrdered
                ? SyncProperty(.list, rule: rule(relationship.description) ?? .list)
                : SyncProperty(.set, rule: rule(relationship.description) ?? .union)
        }
    }

    private static func rule(_ property: NSPropertyDescription) -> MergeRule? {
        switch property.userInfo?[merge] as? String {
        case "mine": .mine
        case "theirs": .theirs
        case "sum": .sum
        case "larger": .larger
        case "laterEdit": .laterEdit
        default: nil
        }
    }
}

/// Why a store cannot be kept in step with another one.
public struct SyncError: Error, CustomStringConvertible, Sendable {
    /// What kind of error it is.
    public enum Code: Hashable, Sendable {
        /// The model has something that cannot be synced.
        case model
        /// A store keeps no history, or its history does not reach back far enough.
        case history
        /// The requests to the server fail.
        case offline
        /// What a store keeps of its sync cannot be read.
        case damaged
        /// The store is an older copy of itself: the server has had later changes of it.
        case olderCopy
    }

    /// What kind of error it is.
    public let code: Code
    /// What is wrong, what was expected, and what to do.
    public let description: String

    init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }

    static func noIdentifier(entity: String) -> SyncError {
        SyncError(
            .model,
            "The entity “\(entity)” cannot be synced: none of its attributes is unique by itself, and a text, a UUID or a whole "
                + "number. Give it such an identifier.")
    }

    static func sameIdentifiers(entity: String) -> SyncError {
        SyncError(
            .model,
            "The entity “\(entity)” cannot be synced: two of its properties have the same renaming identifier. Give one of them "
                + "another one.")
    }

    static func noInverse(entity: String, relationship: String) -> SyncError {
        SyncError(
            .model,
            "The relationship “\(relationship)” of the entity “\(entity)” cannot be synced: it has no inverse. Give it one."
        )
    }

    static func isOwnInverse(entity: String, relationship: String) -> SyncError {
        SyncError(
            .model,
            "The relationship “\(relationship)” of the entity “\(entity)” cannot be synced: it is its own inverse. Use two "
                + "relationships.")
    }

    static func noHistory(_ store: String, _ reason: String) -> SyncError {
        SyncError(
            .history,
            "The store “\(store)” cannot be synced: \(reason). Open it with a history, .file(url, keepsHistory: .always)."
        )
    }

    static func historyIsTrimmed(_ store: String) -> SyncError {
        SyncError(
            .history,
            "Changes of the store “\(store)” that the server has not seen were deleted from its history. Keep the history for "
                + "longer than the store is offline, and call discard() to start over.")
    }

    static func damaged(_ store: String, _ reason: any Error) -> SyncError {
        SyncError(
            .damaged,
            "What the store “\(store)” keeps of its sync cannot be read: \(reason). Call discard() to start over.")
    }

    static func offline(_ reason: any Error) -> SyncError {
        SyncError(.offline, "The server does not answer: \(reason)")
    }

    static let olderCopy = SyncError(.olderCopy, olderCopyText)

    package static let olderCopyText =
        "The store is an older copy of itself: the server has had later changes of it. Call discard() to start over with what "
        + "the server has."
}
