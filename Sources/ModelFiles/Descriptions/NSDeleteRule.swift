/// What happens to the objects at the other end of a relationship when an object is deleted.
public enum NSDeleteRule: UInt, Sendable {
    /// Nothing: the others may be left pointing at a deleted object.
    case noActionDeleteRule = 0
    /// The others lose their reference to the object.
    case nullifyDeleteRule = 1
    /// The others are deleted too.
    case cascadeDeleteRule = 2
    /// The object cannot be deleted while there are others.
    case denyDeleteRule = 3
}
