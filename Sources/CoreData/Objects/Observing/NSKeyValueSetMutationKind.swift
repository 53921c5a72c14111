/// How the members of a to-many relationship change. The raw values are Apple's.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    /// Members are added.
    case union = 1
    /// Members are removed.
    case minus = 2
    /// All members but these are removed.
    case intersect = 3
    /// All members are replaced by these.
    case set = 4
}
