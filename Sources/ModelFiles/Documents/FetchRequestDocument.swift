import Foundation

/// A fetch request of a model, as a template or in a fetched property, as a value.
package struct FetchRequestDocument: Equatable, Sendable {
    package var entityName: String
    package var predicate: PredicateTree?
    package var sortTerms: [SortTerm] = []
    package var limit = 0
    package var offset = 0
    package var batchSize = 0
    package var resultType: UInt = 0
    package var includesSubentities = true
    package var includesPropertyValues = true
    package var includesPendingChanges = true
    package var returnsObjectsAsFaults = true
    package var returnsDistinctResults = false
    package var refreshesRefetchedObjects = false
    package var prefetchedKeyPaths: [String] = []
    package var propertiesToFetch: [String] = []
    package var propertiesToGroupBy: [String] = []
    package var havingPredicate: PredicateTree?

    package init(entityName: String) { self.entityName = entityName }

    /// What a request fetches if its source does not say, as Apple's compiler has it: object IDs (1) without the
    /// values, dictionaries (2) without pending changes.
    package static func implied(byResultType type: UInt) -> (propertyValues: Bool, pendingChanges: Bool) {
        (type != 1, type != 2)
    }
}
