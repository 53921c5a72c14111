import CoreData
import Foundation
import HTTPMessages
import ModelFiles
import PredicateFormat
import StoreReading

/// The grid that an address describes: which objects, in which order, and from where on.
struct GridQuery {
    var page: PageRequest
    /// The filter as it was typed.
    let filter: String
    /// The problem of the filter, if it has one; then nothing is shown.
    var problem: TextProblem?
    /// The object whose relationship leads to the shown objects, and the name of that relationship.
    private(set) var origin: (identifier: NSManagedObjectID, relationship: String)?
    /// The part of the address for the origin.
    private var originItems: [(String, String?)] = []

    var entity: EntityLayout { page.entity }

    /// The columns that are not shown.
    let hidden: [String]
    /// The number of the page, as its address has it; nil for an address that does not say.
    let number: Int?
    /// The columns whose values are counted beside the rows.
    let facets: [String]
    /// Whether they are counted however long that takes.
    let countsAll: Bool
    /// How many rows a page has, unless its address says otherwise.
    static let usualSize = 50
    static let sizes = [20, 50, 100, 500]

    /// How many objects of a relationship without inverse are shown at most, as each is listed individually.
    static let mostListed = 10_000
    /// Whether the relationship leads to more.
    private(set) var hasMore = false

    /// - Parameters:
    ///   - query: the address's query.
    ///   - entity: the entity of the objects.
    ///   - store: the store.
    ///   - isWhole: whether all objects of a relationship are wanted, however many.
    /// - Throws: `PageFailure` for an address that only mistyping can produce.
    init(_ query: HTTPFields, _ entity: EntityLayout, _ store: DirectStore, isWhole: Bool = false) throws {
        page = PageRequest(entity: entity)
        filter = query["where"] ?? ""
        hidden = Self.names(query["hide"])
        facets = Array(Self.names(query["facet"]).filter { entity.slotIndex(forName: $0) != nil }.prefix(3))
        countsAll = query["all"] != nil
        number = query["n"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        do { page.filter = try FilterText.predicate(filter, of: entity) } catch { problem = error }
        page.filter = try ArchivedTextFilter.resolved(page.filter, of: entity, in: store)
        if let key = query["sort"], Self.sortable(entity).contains(key) { page.sortKey = key }
        page.isAscending = query["order"] != "down"
        if let key = query["after"].flatMap({ Int64($0) }) { page.start = .after(key) }
        if let key = query["before"].flatMap({ Int64($0) }) { page.start = .before(key) }
        if let key = page.sortKey, let text = query["at"] { page.startValue = Self.value(text, of: key, entity) }
        if let size = query["size"].flatMap({ Int($0) }) { page.size = min(max(1, size), 500) }
        if let of = query["of"] {
            var hasMore = false
            try restrict(of, store) { identifier, name in
                guard let relationship = identifier.layout.relationship(named: name) else { return nil }
                let found = try store.asking { try $0.destinations(of: relationship, for: [identifier]) }.first ?? []
                hasMore = !isWhole && found.count > Self.mostListed
                let list = (hasMore ? found.prefix(Self.mostListed) : found[...]).map { Value($0) }
                return .comparison(ComparisonTree(.evaluatedObject, .in, .constant(.collection(list))))
            }
            self.hasMore = hasMore
            originItems = [("of", of)]
        } else if let by = query["by"] {
            try restrict(by, store) { identifier, name in
                guard let relationship = entity.relationship(named: name) else { return nil }
                return .comparison(
                    ComparisonTree(
                        .keyPath([name]), .equalTo, .constant(Value(identifier)),
                        modifier: relationship.isToMany ? .any : .direct))
            }
            originItems = [("by", by)]
        }
    }

    /// Restricts the objects to those of a relationship, which `Book/3/reviews` names, each part percent-encoded.
    private mutating func restrict(
        _ text: String, _ store: DirectStore, _ tree: (NSManagedObjectID, String) throws -> PredicateTree?
    ) throws {
        let parts = text.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        guard parts.count == 3, let other = store.layout.entityByName[parts[0]], let key = Int64(parts[1]),
            let restriction = try tree(store.identifier(other, key), parts[2])
        else { throw PageFailure.missing("“\(text)” names no relationship of an object.") }
        let own = page.filter.flatMap { try? predicateTree(of: $0) }
        page.filter = makePredicate(own.map { .and([restriction, $0]) } ?? restriction)
        origin = (store.identifier(other, key), parts[2])
    }

    /// Names in a part of an address, which commas separate.
    private static func names(_ text: String?) -> [String] {
        (text ?? "").split(separator: ",").map { $0.removingPercentEncoding ?? String($0) }
    }

    /// The same, as an address has them; nil for none.
    private static func list(_ names: [String]) -> String? {
        // A comma separates names, which may have one.
        let parts = names.map { $0.replacing("%", with: "%25").replacing(",", with: "%2C") }
        return parts.isEmpty ? nil : parts.joined(separator: ",")
    }

    /// The attributes that can be sorted.
    static func sortable(_ entity: EntityLayout) -> Set<String> {
        Set(entity.slots.filter { $0.attribute?.type.isOrdered ?? false && !$0.isTransient }.map(\.name))
    }

    /// The part of the address of the page that begins after an object, or ends before one.
    func start(_ name: String, at row: Row) -> [(String, String?)] {
        let key = (name, String?.some(String(row.objectID.key)))
        guard let sortKey = page.sortKey, let slot = row.objectID.layout.slotIndex(forName: sortKey),
            let attribute = row.objectID.layout.slots[slot].attribute, !row.values[slot].isNull
        else { return [key] }
        let text = CSVText.cell(FieldValue(row.values[slot], attribute))
        // Addresses are not made of whole books.
        return text.utf8.count > 500 ? [key] : [key, ("at", text)]
    }

    /// The value of an attribute that ``start(_:at:)`` has written.
    private static func value(_ text: String, of key: String, _ entity: EntityLayout) -> Value {
        let attribute = entity.slotIndex(forName: key).flatMap { entity.slots[$0].attribute }
        return attribute.flatMap { try? Value(ValueText.value(text, $0.type)) } ?? .null
    }

    /// The part of the address that stays from page to page.
    func items(
        sort: String?? = nil, order: String?? = nil, size: Int? = nil, hiding: [String]? = nil, filter: String? = nil,
        facets: [String]? = nil
    ) -> [(String, String?)] {
        let filter = filter ?? self.filter
        let size = size ?? page.size
        return originItems + [
            ("where", filter.isEmpty ? nil : filter), ("sort", sort ?? page.sortKey),
            ("order", order ?? (page.isAscending ? nil : "down")),
            ("size", size == Self.usualSize ? nil : String(size)),
            ("hide", Self.list(hiding ?? hidden)), ("facet", Self.list(facets ?? self.facets)),
        ]
    }
}

/// A page that cannot be shown, with its status.
struct PageFailure: Error {
    let status: Int
    let message: String

    static func missing(_ what: String) -> PageFailure { PageFailure(status: 404, message: what) }
}

/// Responses that are not pages, and the texts for errors.
package enum Answer {
    static func json(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(text: text, type: "application/json", status: status)
    }

    /// An error as one or several sentences.
    package static func text(of error: any Error) -> String {
        if let error = error as? CommandError { return error.message }
        if let error = error as? TextProblem { return error.sentence }
        let error = error as NSError
        if error.domain == NSCocoaErrorDomain, error.code == CoreDataErrorCode.persistentStoreTimeout {
            return "Another program has locked the store. Nothing was changed here; try again when it has finished."
        }
        let suggestion = error.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String
        return [error.localizedDescription, suggestion].compactMap { $0 }.joined(separator: " ")
    }
}
