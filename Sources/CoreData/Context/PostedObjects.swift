/// The sets of objects that a save has put into notifications.
///
/// A save posts most sets twice, as changes and as saved. Making a large set takes as long as validating its objects.
struct PostedObjects {
    private var posted: [(objects: [NSManagedObject], set: Set<NSManagedObject>)] = []

    /// The set of some objects; an existing set of the same objects is used again.
    func set(of objects: [NSManagedObject]) -> Set<NSManagedObject> {
        for known in posted where Self.areSame(known.objects, objects) { return known.set }
        return Set(objects)
    }

    /// The set of some objects, kept for the next time if `keeps` is true.
    mutating func set(of objects: [NSManagedObject], keeping keeps: Bool) -> Set<NSManagedObject> {
        let set = set(of: objects)
        if keeps { posted.append((objects, set)) }
        return set
    }

    private static func areSame(_ one: [NSManagedObject], _ other: [NSManagedObject]) -> Bool {
        guard one.count == other.count else { return false }
        for index in one.indices where one[index] !== other[index] { return false }
        return true
    }
}
