import CoreDataModel
import Foundation

/// The engine of a store without one: a developer's class that is neither atomic nor incremental. It supports nothing.
package final class MissingEngine: StoreEngine {
    private let type: String
    private let url: URL?

    package init(type: String, url: URL?) { (self.type, self.url) = (type, url) }

    private func unsupported(_ work: String) -> NSError { StoreError.unsupported(work, storeType: type, url: url) }

    package func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row> { throw unsupported("fetching") }
    package func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] { throw unsupported("fetching") }
    package func fetchCount(_ plan: FetchPlan) throws -> Int { throw unsupported("fetching") }
    package func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] { throw unsupported("fetching") }
    package func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        throw unsupported("fetching")
    }

    package func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] { throw unsupported("fetching") }

    package func makePermanentIdentifiers(
        for entities: [EntityLayout], isSavedLater: Bool
    ) throws -> [NSManagedObjectID] { throw unsupported("inserting") }

    package func save(_ changes: ChangeSet, with others: () throws -> Void) throws -> SaveResult {
        throw unsupported("saving")
    }
}
