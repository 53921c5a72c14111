/// A key of a key path that aggregates a whole collection: `reviews.@avg.stars`, `reviews.@count`.
package enum CollectionOperator: String, Hashable, Sendable, CaseIterable {
    case count = "@count"
    case sum = "@sum"
    case average = "@avg"
    case minimum = "@min"
    case maximum = "@max"
    case unionOfObjects = "@unionOfObjects"
    case distinctUnionOfObjects = "@distinctUnionOfObjects"
    case unionOfArrays = "@unionOfArrays"
    case distinctUnionOfArrays = "@distinctUnionOfArrays"
    case unionOfSets = "@unionOfSets"
    case distinctUnionOfSets = "@distinctUnionOfSets"

    /// Whether the keys after the operator are read from each element. `@count` needs none.
    package var takesKeyPath: Bool { self != .count }
}
