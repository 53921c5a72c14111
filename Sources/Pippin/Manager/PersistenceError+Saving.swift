import StoreSession

extension PersistenceError {
    /// The error for a save that was refused: which models, which properties, and why.
    ///
    /// - Parameters:
    ///   - error: the error of the store, or of Core Data.
    ///   - failures: what could not be saved, where that is known.
    package init(saving error: any Error, _ failures: [SaveFailure] = []) {
        let cocoa = error as NSError
        let details = cocoa.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [cocoa]
        if failures.isEmpty, let entity = cocoa.userInfo[StoreError.entityKey] as? String,
            let properties = cocoa.userInfo[StoreError.propertiesKey] as? [String]
        {
            self = .sameUniqueValues(entity, properties.joined(separator: ", "), error)
            return
        }
        self.init(Self.code(of: details), of: failures, error)
    }

    /// The error for models that could not be saved: which ones, which properties, and why.
    init(_ code: Code, of failures: [SaveFailure], _ error: any Error) {
        let first = failures.first
        self.init(
            code, entity: first?.entity, property: first?.property, identifier: first?.identifier,
            reason: first?.reason ?? error.localizedDescription, failures: failures, underlying: error,
            Self.sentence(failures, error))
    }

    /// The error for a deletion that a rule denies.
    static func denied(_ layout: EntityLayout, _ relationship: RelationshipLayout, _ count: Int) -> Self {
        let reason =
            "It cannot be deleted while “\(layout.name).\(relationship.name)” has \(count) "
            + "\(count == 1 ? "object" : "objects") (delete rule “deny”)."
        let failure = SaveFailure(entity: layout.name, identifier: nil, property: relationship.name, reason: reason)
        let error = StoreError.make(
            NSValidationRelationshipDeniedDeleteError, reason,
            userInfo: [NSValidationKeyErrorKey: relationship.name])
        return Self(.invalid, of: [failure], error)
    }

    /// The error for a relationship of a damaged store, which leads to a row that is not there.
    static func missingRow(entity: String) -> Self {
        let reason = "A relationship leads to a row of '\(entity)' that the store does not have."
        return Self(
            .saveFailed, entity: entity, reason: reason,
            "Nothing was saved. \(reason) `pippin check` lists such relationships.")
    }

    /// The error for an update of many models, after which two would have the same unique values.
    private static func sameUniqueValues(_ entity: String, _ property: String, _ error: any Error) -> Self {
        let reason = "Two '\(entity)' would have the same \(property), which is to be unique."
        return Self(
            .conflict, entity: entity, property: property, reason: reason, underlying: error,
            "Nothing was saved. \(reason)")
    }

    private static func code(of errors: [NSError]) -> Code {
        let codes = errors.map(\.code)
        let conflicts = [
            NSManagedObjectMergeError, NSManagedObjectConstraintMergeError, NSPersistentStoreSaveConflictsError,
        ]
        if codes.contains(where: conflicts.contains) { return .conflict }
        let values = NSManagedObjectValidationError..<NSManagedObjectContextLockingError
        return codes.contains(where: values.contains) ? .invalid : .saveFailed
    }

    private static func sentence(_ failures: [SaveFailure], _ error: any Error) -> String {
        guard !failures.isEmpty else { return "Nothing was saved. \(error.localizedDescription)" }
        let lines = failures.prefix(5).map { failure in
            let identifier = failure.identifier.map { " '\($0)'" } ?? ""
            return "\(failure.entity)\(identifier)\(failure.property.map { ", \($0)" } ?? ""): \(failure.reason)"
        }
        let rest = failures.count > 5 ? " And \(failures.count - 5) more." : ""
        return "Nothing was saved. \(lines.joined(separator: " "))\(rest)"
    }
}

extension ModelRegistry {
    /// The name of the identifier of an entity; nil for one that is not a model's.
    package func identifierName(of entity: String) -> String? { plans.first { $0.name == entity }?.uidKey }

    /// The rules of an entity by which one of several models with the same values stays, by the names of the values.
    package func uniqueRules(of entity: String) -> [[String]: KeptModel] {
        var kept: [[String]: KeptModel] = [:]
        for case .unique(let properties, let model?) in plans.first(where: { $0.name == entity })?.facts ?? [] {
            kept[properties.compactMap(\.path)] = model
        }
        return kept
    }

    /// The relationships of an entity that are properties of its model, and whether it owns their models.
    package func properties(of entity: String) -> [String: Bool] {
        guard let plan = plans.first(where: { $0.name == entity }) else { return [:] }
        let fields = plan.relationships.map { plan.fields[$0] }
        return Dictionary(fields.map { ($0.name, plan.owns($0)) }, uniquingKeysWith: { $1 })
    }

    /// The names of all entities of models.
    package var entityNames: [String] { plans.map(\.name) }
}
