/// How a fetch index orders an element.
public enum NSFetchIndexElementType: UInt, Sendable {
    /// A B-tree over the value.
    case binary = 0
    /// A spatial index over numbers.
    case rTree = 1
}
