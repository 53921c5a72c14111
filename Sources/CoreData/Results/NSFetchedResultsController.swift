import Foundation

/// Keeps the results of a fetch in sections, and notifies a delegate of their changes, for a list of objects on a
/// screen.
///
/// ```swift
/// let request = NSFetchRequest<Book>(entityName: "Book")
/// request.sortDescriptors = [NSSortDescriptor(key: "genre", ascending: true), NSSortDescriptor(key: "title", ascending: true)]
/// let controller = NSFetchedResultsController(
///     fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "genre", cacheName: nil)
/// controller.delegate = self
/// try controller.performFetch()
/// // SELECT … FROM ZBOOK ORDER BY ZGENRE, ZTITLE
/// ```
///
/// With a delegate, the controller follows the changes of its context without fetching again. It belongs to the queue
/// of its context.
///
/// Swift's generic classes are not erased outside Apple's platforms: delegates receive another controller than yours,
/// which shows the same results. The two are equal and `===`, but cannot be cast to each other's type.
open class NSFetchedResultsController<ResultType>: AnyFetchedResultsController {
    private let request: NSFetchRequest<ResultType>
    private var objectsCache: (revision: Int, objects: [ResultType])?
    private var sectionsCache: (revision: Int, sections: [any NSFetchedResultsSectionInfo])?

    /// Makes a controller; call `performFetch()` next.
    ///
    /// - Parameters:
    ///   - fetchRequest: the request. It needs sort descriptors, the first of which must keep the objects of a section
    ///     together. A limit applies to the fetch; objects that are inserted later are added all the same.
    ///   - context: the context to fetch in.
    ///   - sectionNameKeyPath: the key path of an object's section name; `nil` for a single section without a name.
    ///   - name: the name of a cache. Sections are computed from the fetched objects, so nothing is cached under the
    ///     name.
    public init(
        fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
        sectionNameKeyPath: String?, cacheName name: String?
    ) {
        // An empty array suffices, as in Core Data.
        if fetchRequest.sortDescriptors == nil {
            programmerError(
                "a fetched results controller needs a request with sort descriptors; that of "
                    + "“\(fetchRequest.entityName ?? "")” has none")
        }
        request = fetchRequest
        super.init(
            FetchedResults(fetchRequest, context: context, sectionNameKeyPath: sectionNameKeyPath, cacheName: name))
        results.adopt(owner: self, titles: { [weak self] in self?.sectionIndexTitle(forSectionName: $0) })
    }

    /// Makes a controller without a context, for subclasses that stand in for one in tests. Its `performFetch()`
    /// throws.
    public init() {
        request = NSFetchRequest<ResultType>()
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        super.init(FetchedResults(request, context: context, sectionNameKeyPath: nil, cacheName: nil))
        results.adopt(owner: self, titles: { [weak self] in self?.sectionIndexTitle(forSectionName: $0) })
    }

    /// The controller that is passed to the delegates of another one.
    init(showing results: FetchedResults, _ request: NSFetchRequest<ResultType>) {
        self.request = request
        super.init(results)
    }

    /// The request that `performFetch()` runs. Changes to it take effect then.
    open var fetchRequest: NSFetchRequest<ResultType> { request }

    /// The context whose changes the controller follows.
    open var managedObjectContext: NSManagedObjectContext { results.context }

    /// The key path of an object's section name.
    open var sectionNameKeyPath: String? { results.sectionNameKeyPath }

    /// The name given to the controller's cache.
    open var cacheName: String? { results.cacheName }

    /// The delegate, which is notified of changes. Without one the controller does not follow changes.
    open var delegate: (any NSFetchedResultsControllerDelegate)? {
        get { results.delegate }
        set { results.delegate = newValue }
    }

    /// Fetches the results and divides them into sections.
    ///
    /// - Throws: the errors of `NSManagedObjectContext.fetch(_:)`, and an error if the order of the sort descriptors
    ///   does not keep the objects of a section together.
    open func performFetch() throws { try results.performFetch() }

    /// The results, in order; `nil` before the first fetch.
    open var fetchedObjects: [ResultType]? {
        guard let list = results.list else { return nil }
        if let objectsCache, objectsCache.revision == results.revision { return objectsCache.objects }
        let items = list.entries.elements
        let objects = Self.managedObjects(items) ?? items.map { typed($0) }
        objectsCache = (results.revision, objects)
        return objects
    }

    /// The result at an index path; one that does not exist stops the program.
    ///
    /// ```swift
    /// let book = controller.object(at: IndexPath(item: 0, section: 0))
    /// ```
    ///
    /// - Parameter indexPath: the section and the position in it.
    /// - Returns: the result.
    open func object(at indexPath: IndexPath) -> ResultType {
        guard let list = results.list else { programmerError("call performFetch() before asking for objects") }
        guard indexPath.count == 2,
            let item = list.element(at: ResultPlace(section: indexPath.section, row: indexPath.item))
        else {
            programmerError(
                "no object at index path \(Array(indexPath)); the sections have "
                    + list.sections.map { "\($0.count)" }.joined(separator: ", ") + " objects")
        }
        return typed(item)
    }

    /// The index path of a result; `nil` if it is not among the results.
    ///
    /// - Parameter object: an object, an ID or a dictionary, depending on the controller's result type.
    /// - Returns: the section and the position in it, both from 0.
    open func indexPath(forObject object: ResultType) -> IndexPath? {
        guard let object = object as? NSObject else { return nil }
        return results.place(of: object).map { IndexPath(item: $0.row, section: $0.section) }
    }

    /// The results as objects of the class `ResultType`; `nil` for results of other kinds, which are cast one by one.
    private static func managedObjects(_ items: [ResultItem]) -> [ResultType]? {
        guard ResultType.self is NSManagedObject.Type else { return nil }
        let objects = items.map(\.object)
        // Every element is of the class; only the static type differs. A cast would check each element again, slowly.
        return NSManagedObjectContext.areAll(objects, ResultType.self)
            ? unsafeBitCast(objects, to: [ResultType].self) : nil
    }

    private func typed(_ item: ResultItem) -> ResultType {
        guard let result = item.object as? ResultType else {
            programmerError("the fetch gave a \(type(of: item.object)), and its request says \(ResultType.self)")
        }
        return result
    }

    // MARK: Sections

    /// The sections, in order; `nil` before the first fetch.
    open var sections: [any NSFetchedResultsSectionInfo]? {
        guard let list = results.list else { return nil }
        if let sectionsCache, sectionsCache.revision == results.revision { return sectionsCache.sections }
        let sections = list.sections.enumerated().map { index, section in
            FetchedResultsSection(results, number: section.number, name: section.name, index: index)
        }
        sectionsCache = (results.revision, sections)
        return sections
    }

    /// The titles of the sections for the index of a list, each once, in order.
    open var sectionIndexTitles: [String] { results.indexTitles.map(\.title) }

    /// The section of an index title.
    ///
    /// - Parameters:
    ///   - title: the title.
    ///   - sectionIndex: its position among `sectionIndexTitles`; a position with another title stops the program.
    /// - Returns: the index of the first section that has the title.
    open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
        let titles = results.indexTitles
        guard titles.indices.contains(sectionIndex), titles[sectionIndex].title == title else {
            programmerError("the section index has no title “\(title)” at position \(sectionIndex)")
        }
        return titles[sectionIndex].section
    }

    /// The title of a section in a list's index: its capitalized first letter. Subclasses and the delegate can override
    /// it.
    ///
    /// - Parameter sectionName: the name of a section.
    /// - Returns: the title; `nil` for a section without a name.
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        if results.owner !== self, let title = results.ownTitle(sectionName) { return title }
        return sectionName.first.map { String($0).uppercased() }
    }

    /// Does nothing: sections are not cached.
    ///
    /// - Parameter name: the cache name of the controllers; `nil` for all.
    open class func deleteCache(withName name: String?) {}
}

/// A fetched results controller of any result type. Two controllers are equal if they show the same results.
///
/// Controllers of all types inherit from this class, which has no type parameter, so that `===` can compare any two of
/// them. Make an `NSFetchedResultsController`.
open class AnyFetchedResultsController: NSObject {
    let results: FetchedResults

    init(_ results: FetchedResults) { self.results = results }

    /// Controllers are equal if they show the same results, as do the one that you made and the one that delegates
    /// receive.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but a controller with the same results.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? AnyFetchedResultsController)?.results === results
    }

    /// A hash of the results' identity.
    open override var hash: Int { ObjectIdentifier(results).hashValue }
}

/// Whether two controllers show the same results. A delegate receives a controller that shows the same results as
/// yours, so that
///
///     if controller === booksController { … }
///
/// has the same meaning in a delegate's method as with Core Data, where the delegate receives that very object.
///
/// - Parameters:
///   - first: a controller, or `nil`.
///   - second: another one, possibly of another result type.
/// - Returns: `true` for the same results, and if both are `nil`.
public func === (first: AnyFetchedResultsController?, second: AnyFetchedResultsController?) -> Bool {
    first?.results === second?.results
}

/// Whether two controllers show different results: the opposite of `===`.
///
/// - Parameters:
///   - first: a controller, or `nil`.
///   - second: another one, possibly of another result type.
/// - Returns: `false` for the same results, and if both are `nil`.
public func !== (first: AnyFetchedResultsController?, second: AnyFetchedResultsController?) -> Bool {
    first?.results !== second?.results
}

/// A result by its identity: equal dictionaries are different results, and hashing costs nothing.
struct ResultItem: Hashable {
    let object: NSObject

    static func == (first: ResultItem, second: ResultItem) -> Bool { first.object === second.object }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
}

// Code from before Swift 3's `IndexPath` casts to the class first. UIKit and AppKit give it these names; Foundation on
// other platforms does not.
extension NSIndexPath {
    /// Makes the path of an item in a section of a collection.
    ///
    /// - Parameters:
    ///   - item: the item's index in its section, from 0.
    ///   - section: the section's index, from 0.
    public convenience init(forItem item: Int, inSection section: Int) {
        self.init(indexes: [section, item], length: 2)
    }

    /// Makes the path of a row in a section of a table.
    ///
    /// - Parameters:
    ///   - row: the row's index in its section, from 0.
    ///   - section: the section's index, from 0.
    public convenience init(forRow row: Int, inSection section: Int) {
        self.init(indexes: [section, row], length: 2)
    }

    /// The index of the section, the first of the two.
    public var section: Int { index(atPosition: 0) }

    /// The index of the item in its section, the second of the two.
    public var item: Int { index(atPosition: 1) }

    /// The index of the row in its section, the second of the two.
    public var row: Int { index(atPosition: 1) }
}
