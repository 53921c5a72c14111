/// What is done with two engines, one after the other. Steps print as they are written in Swift.
///
/// Objects are named by the value of their attribute `number`, which no step changes; a step about an object that is
/// not there does nothing to it.
package enum Step: Sendable {
    case save(SaveStep)
    case fetch(FetchStep)
    case dictionaries(DictionaryStep)
    case insertBatch(InsertBatchStep)
    case updateBatch(UpdateBatchStep)
    case deleteBatch(DeleteBatchStep)
    /// Saves that are there together, or not at all.
    case longTransaction(saves: [SaveStep], commits: Bool)
    case reserveKeys(entity: String, more: Int)
    case reopen
}

/// The changes of a program to its objects. What follows from them, at the other ends of relationships, is computed.
package struct SaveStep: Sendable {
    package var inserted: [Insertion] = []
    package var changed: [Edit] = []
    package var deleted: [Int] = []
    /// Objects that are written as if they had been read before their latest change; those that are gone, as if they
    /// were not.
    package var stale: [Int] = []
    /// Whether another store of the same save fails.
    package var failsAtEnd = false
    /// Whether the change set says in which order the objects of ordered relationships are. Otherwise new ones have no
    /// place yet.
    package var saysOrders = true
}

package struct Insertion: Sendable {
    package var number: Int
    package var entity: String
    package var values: [String: PlainValue] = [:]
    package var toMany: [String: [Int]] = [:]
}

package struct Edit: Sendable {
    package var number: Int
    package var values: [String: PlainValue] = [:]
    package var toMany: [String: [Int]] = [:]
}

/// A predicate's format, and what stands for each `%@`: the number of an object, or the name of an entity.
package struct Condition: Sendable {
    package var format: String
    package var arguments: [Argument] = []

    package enum Argument: Sendable {
        case object(Int)
        case entity(String)
    }
}

package struct Order: Sendable {
    package var key: String
    package var ascending = true
    package var selector: String?
}

/// Which rows, in what order.
package struct FetchStep: Sendable {
    package var entity: String
    package var includesSubentities = true
    package var condition: Condition?
    /// Ends with `number` where the order matters.
    package var order: [Order] = []
    package var limit = 0
    package var offset = 0
}

package struct DictionaryStep: Sendable {
    package var fetch: FetchStep
    package var columns: [Column] = []
    package var groupBy: [String] = []
    package var having: Condition?
    package var isDistinct = false

    package enum Column: Sendable {
        case keyPath(String)
        /// A function of a key path, such as `sum:`.
        case computed(name: String, function: String, keyPath: String)
    }
}

package struct InsertBatchStep: Sendable {
    package enum Conflicts: Sendable { case fail, replace, keep }

    package var entity: String
    package var rows: [Row]
    package var conflicts = Conflicts.fail
    package var wantsIdentifiers = false
    /// Whether it is said of each value that it was given. What is not given, `number` included, does not replace
    /// anything.
    package var tellsWhatIsGiven = true
    /// After how many rows whoever gives them fails.
    package var failsAfter: Int?

    package struct Row: Sendable {
        package var number: Int
        package var values: [String: PlainValue] = [:]
    }
}

package struct UpdateBatchStep: Sendable {
    package var rows: FetchStep
    package var values: [String: PlainValue] = [:]
    /// Formats of expressions.
    package var expressions: [String: String] = [:]
    package var wantsIdentifiers = false
}

package struct DeleteBatchStep: Sendable {
    package var rows: FetchStep
    /// The objects, where they are told by their numbers.
    package var objects: [Int]?
    package var wantsIdentifiers = false
}
