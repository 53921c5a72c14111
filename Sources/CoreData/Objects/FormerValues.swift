import Foundation

/// What an object's properties were at some time.
struct FormerValues {
    let values: ContiguousArray<StoredValue>
    /// The changes of to-many relationships that had any, by the relationships' indexes.
    let members: [Int: MemberChanges]

    init(of object: NSManagedObject) {
        values = object.values
        guard !object.relations.isEmpty else {
            members = [:]
            return
        }
        var members: [Int: MemberChanges] = [:]
        for relationship in object.layout.toManys {
            members[relationship.index] = object.toManyMembersIfAny(relationship)?.changes
        }
        self.members = members
    }
}

/// The members of a to-many relationship at some time, as changes of the stored ones.
struct MemberChanges {
    var added: IdentitySet = []
    var removed: IdentitySet = []
    /// The members in order, if the relationship is ordered and was loaded.
    var order: [NSManagedObject]?
}

extension ToManyMembers {
    /// The present changes; `nil` if there are none.
    var changes: MemberChanges? {
        hasChanges ? MemberChanges(added: added, removed: removed, order: isOrdered && isLoaded ? all : nil) : nil
    }

    /// The members at a former time, in the form of key-value coding.
    ///
    /// - Parameter former: the changes that there were at that time.
    /// - Returns: the members; `nil` if they are the present ones, in the present order.
    func formerValue(_ former: MemberChanges) -> NSObject? {
        let set = committed.subtracting(former.removed).union(former.added)
        guard isOrdered else { return set == members ? nil : NSSet(array: Array(set)) }
        let order = former.order ?? all.filter(set.contains) + set.subtracting(members)
        return order.elementsEqual(all, by: ===) ? nil : NSOrderedSet(array: order)
    }
}
