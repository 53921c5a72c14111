import Foundation
import Ordering
import PredicateFormat

/// Determines which of a context's changes concern the results of a request.
struct ResultFilter {
    private let layout: EntityLayout
    private let includesSubentities: Bool
    private var matches: (NSManagedObject) -> Bool
    /// The predicate, as long as it names objects by temporary IDs.
    private var unsettled: NSPredicate?

    init(_ request: any FetchDescription, _ layout: EntityLayout, in context: NSManagedObjectContext) {
        self.layout = layout
        includesSubentities = request.includesSubentities
        let predicate = request.predicate.map(context.withCurrentIdentifiers)
        matches = Self.test(predicate, layout)
        unsettled = predicate.flatMap { $0.namesTemporaryIdentifiers ? $0 : nil }
    }

    private static func test(_ predicate: NSPredicate?, _ layout: EntityLayout) -> (NSManagedObject) -> Bool {
        NSManagedObjectContext.test(predicate?.withSpelledValuesRead(layout.spelledKind))
    }

    /// Takes the permanent IDs of objects that were saved since in place of their temporary ones, as a fetch does.
    mutating func takeCurrentIdentifiers(in context: NSManagedObjectContext) {
        guard let former = unsettled else { return }
        let current = context.withCurrentIdentifiers(former)
        guard current !== former else { return }
        matches = Self.test(current, layout)
        unsettled = current.namesTemporaryIdentifiers ? current : nil
    }

    private func concerns(_ object: NSManagedObject) -> Bool { concerns(object.layout) }

    /// Whether objects of an entity may be among the results.
    func concerns(_ entity: EntityLayout) -> Bool {
        includesSubentities ? entity.isKind(of: layout) : entity === layout
    }

    /// The effect of a change notification on the results.
    ///
    /// - Parameters:
    ///   - info: the notification's user info.
    ///   - isKnown: whether a result is in the list.
    /// - Returns: the results that left, changed, and arrived.
    func batch(of info: [AnyHashable: Any], isKnown: (ResultItem) -> Bool) -> ResultBatch<ResultItem> {
        var batch = ResultBatch<ResultItem>()
        var seen: Set<ResultItem> = []
        for object in objects(NSDeletedObjectsKey, in: info) {
            let item = ResultItem(object: object)
            if seen.insert(item).inserted, isKnown(item) { batch.leaving.append(item) }
        }
        for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey] {
            for object in objects(key, in: info) {
                let item = ResultItem(object: object)
                guard seen.insert(item).inserted else { continue }
                let belongs = object.managedObjectContext != nil && !object.isDeleted && matches(object)
                switch (belongs, isKnown(item)) {
                case (true, true): batch.touched.append(item)
                case (true, false): batch.arriving.append(item)
                case (false, true): batch.leaving.append(item)
                case (false, false): break
                }
            }
        }
        return batch
    }

    /// The results that a change notification names as changed.
    func touched(by info: [AnyHashable: Any]) -> Set<ResultItem> {
        Set(
            (objects(NSUpdatedObjectsKey, in: info) + objects(NSRefreshedObjectsKey, in: info)).map {
                ResultItem(object: $0)
            })
    }

    /// The objects under a key that are of the request's entity, in the order of their IDs. Sets have no order, and the
    /// delegate shall get the same notifications in every run.
    private func objects(_ key: String, in info: [AnyHashable: Any]) -> [NSManagedObject] {
        guard let objects = info[key] as? Set<NSManagedObject> else { return [] }
        return objects.filter(concerns).ordered { first, second in
            (first.objectID.isTemporaryID ? 1 : 0, first.objectID.key) < (
                second.objectID.isTemporaryID ? 1 : 0, second.objectID.key
            )
        }
    }
}
