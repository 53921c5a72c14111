/// A change of the members of a to-many relationship.
package enum MemberStep {
    case added(NSManagedObject)
    case removed(NSManagedObject)
    /// New members were saved, and have other keys.
    case saved
}

/// The members of a to-many relationship at some time, for code that keeps what it has made of them.
package struct MembersStamp {
    private weak let members: ToManyMembers?
    private let version: Int

    init(_ members: ToManyMembers) { (self.members, version) = (members, members.version) }

    func isOf(_ other: ToManyMembers) -> Bool { members === other && version == other.version }

    func steps(of other: ToManyMembers) -> ArraySlice<MemberStep>? {
        members === other ? other.steps(since: version) : nil
    }
}

extension NSManagedObject {
    /// The stamp of a to-many relationship whose members are loaded; nil for another one. The steps of one follower
    /// are noted, that who was given the latest stamp.
    package final func membersStamp(_ relationship: RelationshipLayout) -> MembersStamp? {
        guard let members = toManyMembersIfAny(relationship), members.isLoaded else { return nil }
        members.follow()
        return MembersStamp(members)
    }

    /// Whether neither the members nor their keys have changed since a stamp was made.
    package final func isCurrent(_ stamp: MembersStamp, of relationship: RelationshipLayout) -> Bool {
        toManyMembersIfAny(relationship).map(stamp.isOf) ?? false
    }

    /// What has happened to the members since a stamp was made; nil if it is not known, or was much.
    package final func memberSteps(
        since stamp: MembersStamp, of relationship: RelationshipLayout
    ) -> ArraySlice<MemberStep>? {
        toManyMembersIfAny(relationship).flatMap(stamp.steps)
    }

    /// Whether an object is at the other end of a to-many relationship.
    package final func hasMember(_ object: NSManagedObject, of relationship: RelationshipLayout) -> Bool {
        loadedToManyMembers(relationship).contains(object)
    }

    /// Removes and adds members of an unordered relationship, as one change for observers.
    package final func changeToMany(
        _ relationship: RelationshipLayout, removing former: [NSManagedObject], adding new: [NSManagedObject]
    ) {
        willChange()
        asOneChange(relationship.name, { .setting }) {
            for object in Self.inOrder(former) { removeFromToMany(relationship, object) }
            for object in Self.inOrder(new) { addToMany(relationship, object) }
        }
    }

    /// Whether an object comes before another one in the order of members: by their keys, new ones last.
    package final func isInOrder(before other: NSManagedObject) -> Bool {
        let isNew = (hasTemporaryID, other.hasTemporaryID)
        return isNew.0 == isNew.1 ? key < other.key : isNew.1
    }

    /// Whether the object has no row yet.
    package final var isWithoutRow: Bool { hasTemporaryID }
}
