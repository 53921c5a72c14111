import StoreSession

extension PersistenceError {
    /// The error for a deletion of all models of a type that other models require; nil for any other error.
    ///
    /// - Parameters:
    ///   - plan: the models that were to be deleted.
    ///   - error: Core Data's error, which names a relationship of these, or of models that they own.
    ///   - model: the store's model.
    init?(deletingAll plan: EntityPlan, _ error: any Error, _ model: NSManagedObjectModel?) {
        let cocoa = error as NSError
        guard let name = cocoa.userInfo[NSValidationKeyErrorKey] as? String, let model,
            let relationship = Self.relationship(name, of: plan, in: model, cocoa),
            let other = relationship.destinationEntity?.name
        else { return nil }
        let inverse = relationship.inverseRelationship
        let deleted = relationship.entity.name ?? plan.name
        let isRequired = inverse.map { !$0.isToMany && !$0.isOptional } ?? false
        let reason =
            isRequired
            ? "It is required, and the \(deleted) in it would be deleted. Delete each such \(other) as well, or save it with another "
                + "\(deleted) first."
            : "The rule of '\(deleted).\(name)' denies deleting a \(deleted) that still has one."
        let failure = SaveFailure(
            entity: other, identifier: nil, property: isRequired ? inverse?.name : nil, reason: reason)
        self.init(
            .invalid, entity: other, property: failure.property, reason: reason, failures: [failure], underlying: error,
            "Nothing was deleted. \(other)\(failure.property.map { ", \($0)" } ?? ""): \(reason)")
    }

    /// The relationship with a name: of the entity that the error names, since others may have one of that name, too.
    /// Apple's errors name none; there it is that of the models themselves if they have it.
    private static func relationship(
        _ name: String, of plan: EntityPlan, in model: NSManagedObjectModel, _ error: NSError
    ) -> NSRelationshipDescription? {
        if let entity = error.userInfo[deletedEntityErrorKey] as? String {
            return model.entitiesByName[entity]?.relationshipsByName[name]
        }
        if let own = model.entitiesByName[plan.name]?.relationshipsByName[name] { return own }
        return model.entities.lazy.compactMap { $0.relationshipsByName[name] }.first
    }
}
