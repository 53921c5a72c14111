import Foundation
import PredicateFormat

/// The implementation of a fetched results controller, for every type of results.
final class FetchedResults: @unchecked Sendable {
    // @unchecked Sendable: confined to the queue of `context`, which posts the observed notifications.

    let request: any FetchDescription
    let context: NSManagedObjectContext
    let sectionNameKeyPath: String?
    let cacheName: String?
    private(set) var list: ResultList<ResultItem>?
    /// The number of changes of the list.
    private(set) var revision = 0
    private let fetch: () throws -> [Any]
    private var filter: ResultFilter?
    private var order = ResultOrder([], sectionNameKeyPath: nil)
    /// Whether changes came while there was no delegate, and were not followed.
    private var missedChanges = false
    private var observers: [any NSObjectProtocol] = []

    private(set) weak var owner: NSObject?
    private(set) var ownTitle: (String) -> String? = { _ in nil }
    private weak var shown: NSFetchedResultsController<any NSFetchRequestResult>?

    weak var delegate: (any NSFetchedResultsControllerDelegate)? {
        didSet {
            delegateTakesSnapshots = true
            delegateTakesDifferences = true
        }
    }
    /// Whether the delegate has the method for snapshots, as far as is known: if not, that shows when it is called.
    var delegateTakesSnapshots = true
    /// Whether the delegate has the method for differences, as far as is known.
    var delegateTakesDifferences = true

    init<ResultType>(
        _ request: NSFetchRequest<ResultType>, context: NSManagedObjectContext, sectionNameKeyPath: String?,
        cacheName: String?
    ) {
        self.request = request
        self.context = context
        self.sectionNameKeyPath = sectionNameKeyPath
        self.cacheName = cacheName
        fetch = { try context.fetch(request) }
    }

    deinit {
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
    }

    func adopt(owner: NSObject, titles: @escaping (String) -> String?) {
        self.owner = owner
        ownTitle = titles
    }

    var isSectioned: Bool { sectionNameKeyPath != nil }

    /// The controller that is passed to delegates.
    var controller: NSFetchedResultsController<any NSFetchRequestResult> {
        if let owner = owner as? NSFetchedResultsController<any NSFetchRequestResult> { return owner }
        if let shown { return shown }
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.take(from: self.request)
        let controller = NSFetchedResultsController(showing: self, request)
        shown = controller
        return controller
    }

    // MARK: Fetching

    func performFetch() throws {
        list = try fetchList()
        revision += 1
        missedChanges = false
        observe()
        guard let delegate, delegateTakesSnapshots else { return }
        delegate.controller(controller, didChangeContentWith: snapshot(reloaded: []))
    }

    private func fetchList() throws -> ResultList<ResultItem> {
        let items = try fetch().compactMap { ($0 as? NSObject).map { ResultItem(object: $0) } }
        let layout = try context.entity(of: request)
        filter = request.resultType == .managedObjectResultType ? ResultFilter(request, layout, in: context) : nil
        order = ResultOrder(request.sortDescriptors ?? [], sectionNameKeyPath: sectionNameKeyPath)
        guard isSectioned else { return ResultList(items) }
        do {
            return try ResultList(items, sectionName: order.sectionName)
        } catch {
            throw StoreError.make(
                CoreDataErrorCode.coreData,
                "The fetched object at index \(error.index) is of section “\(error.section)”, which ended before it. The first sort "
                    + "descriptors must keep the objects of a section together.")
        }
    }

    private func observe() {
        guard observers.isEmpty else { return }
        context.noteUse()
        context.merging.followers.add(self)
        observers = [.NSManagedObjectContextObjectsDidChange, .faultsDidChange].map { name in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                [weak self] notification in self?.contextDidChange(notification.userInfo ?? [:])
            }
        }
    }

    // MARK: Following changes

    private func contextDidChange(_ info: [AnyHashable: Any]) {
        guard list != nil else { return }
        filter?.takeCurrentIdentifiers(in: context)
        guard let filter else { return }
        guard info[NSInvalidatedAllObjectsKey] == nil else { return followReset() }
        guard delegate != nil else {
            missedChanges = true
            return
        }
        var info = info
        if !context.merging.faults.isEmpty {
            let refreshed = info[NSRefreshedObjectsKey] as? Set<NSManagedObject> ?? []
            info[NSRefreshedObjectsKey] = refreshed.union(context.merging.faults)
        }
        if missedChanges {
            refetch(filter.touched(by: info))
        } else {
            let lost = info[NSInvalidatedObjectsKey] as? Set<NSManagedObject> ?? []
            lose(lost.map { ResultItem(object: $0) })
            if let refreshed = info[NSRefreshedObjectsKey] as? Set<NSManagedObject> {
                info[NSRefreshedObjectsKey] = readTogether(refreshed)
            }
            apply(filter.batch(of: info) { list?.entries.contains($0) ?? false })
        }
    }

    /// Reads the results among refreshed objects whose values are gone, with one query for all of them, and leaves out
    /// the other faults that do not become results, which one query finds out, too: a fault shows only when it is read
    /// whether it still has a row.
    private func readTogether(_ refreshed: Set<NSManagedObject>) -> Set<NSManagedObject> {
        let faults = refreshed.filter {
            $0.state.contains(.fault) && !$0.state.contains(.valuesPending) && !$0.hasTemporaryID
        }
        guard !faults.isEmpty else { return refreshed }
        let strangers = faults.filter { !(list?.entries.contains(ResultItem(object: $0)) ?? false) }
        context.readTogether(Array(faults.subtracting(strangers)))
        guard !strangers.isEmpty else { return refreshed }
        return refreshed.subtracting(strangers).union(arrivals(among: strangers.map(\.objectID)))
    }

    /// After a reset, the results are the objects that the context has for the rows of the store. The delegate is not
    /// told, as in Core Data: the former objects have no values that it could read.
    private func followReset() {
        missedChanges = false
        guard let fetched = try? fetchList() else { return lose(list?.entries.elements ?? []) }
        list = fetched
        revision += 1
    }

    /// Takes objects off the list whose store was removed. The delegate is not told, since they have no values either.
    private func lose(_ items: [ResultItem]) {
        let lost = items.filter { list?.entries.contains($0) ?? false }
        guard !lost.isEmpty else { return }
        _ = list?.apply(ResultBatch(leaving: lost), sectionName: order.sectionName, order: order.compare)
        revision += 1
    }

    /// Applies the results of a new fetch.
    private func refetch(_ touched: Set<ResultItem>) {
        guard let former = list else { return }
        let old = former.entries.elements
        guard let fetched = try? fetchList() else {
            // The store cannot be read: the former results are lost with the context's objects.
            return apply(ResultBatch(leaving: old))
        }
        missedChanges = false
        let new = fetched.entries.elements
        let places = Dictionary(zip(old, old.indices), uniquingKeysWith: { first, _ in first })
        let after = Set(new)
        let common = new.enumerated().compactMap { index, item in
            places[item].map { (item: item, old: $0, new: index) }
        }
        // Objects that changed without a notification may be in another section or at another index now.
        let rising = Set(longestRise(of: common.map(\.old)).map { common[$0].item })
        let (formerNames, names) = (former.sectionNames, fetched.sectionNames)
        let affected = common.filter {
            touched.contains($0.item) || !rising.contains($0.item) || formerNames[$0.old] != names[$0.new]
        }
        apply(
            ResultBatch(
                leaving: old.filter { !after.contains($0) }, touched: affected.map(\.item),
                arriving: new.filter { places[$0] == nil }))
    }

    private func apply(_ batch: ResultBatch<ResultItem>) {
        guard !batch.isEmpty, var list else { return }
        // The list is moved out, so that it is changed in place.
        self.list = nil
        let changes = list.apply(batch, sectionName: order.sectionName, order: order.compare)
        self.list = list
        guard !changes.isEmpty else { return }
        revision += 1
        notify(changes)
    }

}

extension FetchedResults: MergeFollower {
    func lists(_ layout: EntityLayout) -> Bool { delegate != nil && filter?.concerns(layout) ?? false }

    /// One query for all of them: most objects that others change need not be registered here.
    func arrivals(among identifiers: [NSManagedObjectID]) -> [NSManagedObject] {
        guard list != nil, let filter else { return [] }
        let concerned = identifiers.filter { !$0.isTemporaryID && filter.concerns($0.layout) }
        guard !concerned.isEmpty, !missedChanges else { return [] }
        let request = NSFetchRequest<NSManagedObject>()
        request.take(from: self.request)
        (request.sortDescriptors, request.fetchLimit, request.fetchOffset, request.fetchBatchSize) = (nil, 0, 0, 0)
        request.relationshipKeyPathsForPrefetching = nil
        request.includesPendingChanges = false
        let areAmong = NSPredicate(format: "self IN %@", concerned)
        request.predicate =
            self.request.predicate.map { NSCompoundPredicate(andPredicateWithSubpredicates: [areAmong, $0]) }
            ?? areAmong
        // If there is no delegate, or the fetch fails now, the next change fetches again.
        guard delegate != nil, let found = try? context.fetch(request) else {
            missedChanges = true
            return []
        }
        return found
    }
}

extension FetchedResults {
    // MARK: Index titles

    func indexTitle(forSectionName name: String) -> String? {
        guard let delegate else { return controller.sectionIndexTitle(forSectionName: name) }
        return delegate.controller(controller, sectionIndexTitleForSectionName: name)
    }

    /// The titles of the sections, each once, with the first section that has it.
    var indexTitles: [(title: String, section: Int)] {
        guard isSectioned, let list else { return [] }
        var known: Set<String> = []
        return list.sections.enumerated().compactMap { index, section in
            guard let title = indexTitle(forSectionName: section.name), known.insert(title).inserted else { return nil }
            return (title, index)
        }
    }

    func place(of object: NSObject) -> ResultPlace? {
        guard let list else { return nil }
        if let place = list.place(of: ResultItem(object: object)) { return place }
        // Equal IDs and dictionaries need not be the same object.
        guard filter == nil, let equal = list.entries.elements.first(where: { $0.object.isEqual(object) }) else {
            return nil
        }
        return list.place(of: equal)
    }
}

/// The order of results, by sort descriptors and by section.
struct ResultOrder {
    private let terms: [SortTerm]?
    private let descriptors: [NSSortDescriptor]
    private let sectionKeys: [String]?

    init(_ descriptors: [NSSortDescriptor], sectionNameKeyPath: String?) {
        self.descriptors = descriptors
        // Descriptors with code have no terms, and compare objects themselves.
        terms = try? sortTerms(of: descriptors)
        sectionKeys = sectionNameKeyPath?.split(separator: ".").map(String.init)
    }

    /// The order of two results.
    func compare(_ first: ResultItem, _ second: ResultItem) -> ComparisonResult {
        guard let terms, let left = first.object as? NSManagedObject, let right = second.object as? NSManagedObject
        else { return compareByDescriptors(first.object, second.object) }
        for term in terms {
            let order = term.comparison.compare(
                Value.object(left).value(forKeyPath: term.keyPath), Value.object(right).value(forKeyPath: term.keyPath))
            if order != .orderedSame {
                return term.ascending == (order == .orderedAscending) ? .orderedAscending : .orderedDescending
            }
        }
        return .orderedSame
    }

    private func compareByDescriptors(_ first: NSObject, _ second: NSObject) -> ComparisonResult {
        for descriptor in descriptors {
            let order = descriptor.compare(first, to: second)
            if order != .orderedSame { return order }
        }
        return .orderedSame
    }

    /// The name of a result's section: the value of the section's key path, as text; empty for none.
    func sectionName(_ item: ResultItem) -> String {
        guard let sectionKeys else { return "" }
        var value: Any? = item.object
        for key in sectionKeys {
            switch value {
            case let object as NSManagedObject: value = object.value(forKey: key)
            case let dictionary as NSDictionary: value = dictionary.object(forKey: key)
            default: value = KeyValuePath.value(of: value, [key])
            }
        }
        switch value {
        case nil, is NSNull: return ""
        case let text as String: return text
        case let number as NSNumber: return number.plainText
        case let value?: return "\(value)"
        }
    }
}

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
        return objects.filter(concerns).sorted { first, second in
            (first.objectID.isTemporaryID ? 1 : 0, first.objectID.key) < (
                second.objectID.isTemporaryID ? 1 : 0, second.objectID.key
            )
        }
    }
}
