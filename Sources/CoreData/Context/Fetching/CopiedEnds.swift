/// The other ends of the relationships that a child's save copies to its parent.
///
/// The child has set both ends, and both are copied. But an end that already led to the other one in the child is not
/// among its changes, even if the parent has changed it since the child read it: it is set here.
struct CopiedEnds {
    private let parent: NSManagedObjectContext
    /// The destinations that objects of the parent had before values were copied to them.
    private var former: [(end: NSManagedObjectID, inverse: RelationshipLayout, object: NSManagedObject)] = []

    init(in parent: NSManagedObjectContext) { self.parent = parent }

    /// Notes which destinations an object of the parent is about to lose.
    ///
    /// - Parameters:
    ///   - target: the parent's object.
    ///   - object: the child's object, whose changes are copied next.
    mutating func willCopy(to target: NSManagedObject, from object: NSManagedObject) {
        for relationship in object.layout.toOnes where object.hasChanged(relationship) {
            guard let inverse = relationship.inverse,
                case .identifier(let identifier) = target.storedValue(at: relationship.slot)
            else { continue }
            former.append((identifier, inverse, target))
        }
    }

    /// Lets the other ends agree with what was copied.
    ///
    /// - Parameter copied: the child's objects, and the parent's ones, all of which have their values.
    func settle(_ copied: [(object: NSManagedObject, target: NSManagedObject)]) {
        for (end, inverse, object) in former {
            guard let relationship = inverse.inverse, let end = parent.registeredObject(for: end), !end.isDeleted,
                object.toOne(relationship) !== end, end.mayLead(inverse, to: object)
            else { continue }
            end.disconnect(inverse, from: object)
        }
        for (object, target) in copied {
            for relationship in object.layout.toOnes where object.hasChanged(relationship) {
                guard let inverse = relationship.inverse, let end = target.toOne(relationship) else { continue }
                connect(end, inverse, to: target)
            }
            guard !object.relations.isEmpty else { continue }
            for relationship in object.layout.toManys { settleMembers(of: relationship, object, target) }
        }
    }

    private func settleMembers(
        of relationship: RelationshipLayout, _ object: NSManagedObject, _ target: NSManagedObject
    ) {
        guard let inverse = relationship.inverse, let members = object.toManyMembersIfAny(relationship),
            members.hasChanges
        else { return }
        for removed in members.removed where !removed.isDeleted {
            let end = parent.objectOrFault(removed.identifier)
            if !end.isDeleted, end.mayLead(inverse, to: target) { end.disconnect(inverse, from: target) }
        }
        for added in members.added { connect(parent.objectOrFault(added.identifier), inverse, to: target) }
    }

    private func connect(_ end: NSManagedObject, _ inverse: RelationshipLayout, to target: NSManagedObject) {
        guard !end.isDeleted else { return }
        let isConnected =
            inverse.isToMany
            ? end.toManyMembersIfAny(inverse)?.contains(target) ?? false : end.toOne(inverse) === target
        if !isConnected { end.connect(inverse, to: target) }
    }
}

extension NSManagedObject {
    /// Whether a relationship leads to an object, as far as that is known without reading its members.
    fileprivate final func mayLead(_ relationship: RelationshipLayout, to object: NSManagedObject) -> Bool {
        guard relationship.isToMany else { return toOne(relationship) === object }
        guard let members = toManyMembersIfAny(relationship) else { return true }
        return members.isLoaded ? members.contains(object) : !members.removed.contains(object)
    }
}
