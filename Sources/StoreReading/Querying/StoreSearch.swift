import CoreData
import Foundation
import PredicateFormat
import StoreEngine

/// A search in the texts of a store's objects, of whatever program it is: all of them are read and compared, and no
/// index is made.
package struct StoreSearch {
    /// An object that was found.
    package struct Hit {
        package let identifier: NSManagedObjectID
        /// Less is better.
        package let rank: Double
        /// The properties in which something was found, and where.
        package let excerpts: [(property: String, excerpt: SearchExcerpt)]
    }

    package struct Result {
        /// The best of the objects that were found.
        package var hits: [Hit] = []
        /// How many were found.
        package var count = 0
        /// How many were compared.
        package var compared = 0
        /// Entities whose objects cannot be read, as sentences without their final periods.
        package var omissions: [String] = []
    }

    private let store: DirectStore
    private let scan: SearchScan

    /// - Parameters:
    ///   - store: the store.
    ///   - query: what to look for, as a person typed it.
    ///   - stemsEnglish: whether English words are found with other endings.
    package init(_ store: DirectStore, _ query: String, stemsEnglish: Bool = false) {
        self.store = store
        let tokenizer = SearchTokenizer(stemsEnglish: stemsEnglish)
        scan = SearchScan(SearchQuery(query, tokenizer: tokenizer), tokenizer: tokenizer)
    }

    /// Compares the objects of an entity and of those that inherit from it, or of all entities.
    ///
    /// - Parameters:
    ///   - entity: the entity; nil for all.
    ///   - limit: how many objects to return at most.
    ///   - words: how many words an excerpt has at most.
    /// - Returns: the best objects, and how many there are.
    /// - Throws: an error for a store that cannot be read.
    package func run(in entity: EntityLayout?, limit: Int, words: Int = 16) throws -> Result {
        var result = Result()
        var ranking = SearchRanking<NSManagedObjectID>(scan)
        for root in entity.map({ [$0] }) ?? store.layout.entities.filter({ $0.superentity == nil }) {
            do {
                try forEachRow(FetchPlan(entity: root)) { row in
                    result.compared += 1
                    ranking.add(scan.findings(in: SearchedTexts(row).texts.map(\.text)), key: row.objectID)
                }
            } catch let error as NSError where Self.isUnknown(error) {
                result.omissions.append("\(root.name): \(TextTools.withoutPeriod(error.localizedDescription))")
            }
        }
        result.count = ranking.count
        for hit in ranking.hits().prefix(limit) {
            guard let row = try store.asking({ try $0.row(for: hit.key) }) else { continue }
            let excerpts = SearchedTexts(row).texts.compactMap { property, text -> (String, SearchExcerpt)? in
                let excerpt = scan.excerpt(of: text, words: words)
                return excerpt.matches.isEmpty ? nil : (property, excerpt)
            }
            result.hits.append(Hit(identifier: hit.key, rank: hit.rank, excerpts: excerpts))
        }
        return result
    }

    /// The objects that a query finds whose texts have what it searches for.
    ///
    /// - Parameters:
    ///   - query: the query.
    ///   - plan: its fetch plan.
    ///   - store: the store.
    /// - Returns: the objects, in the query's order or best first; nil for a query that searches for nothing.
    /// - Throws: an error for a store that cannot be read.
    package static func objects(
        _ query: QueryText, _ plan: FetchPlan, in store: DirectStore
    ) throws -> [NSManagedObjectID]? {
        guard let text = query.search?.text else { return nil }
        var all = plan
        (all.limit, all.offset) = (0, 0)
        let search = StoreSearch(store, text)
        var ranking = SearchRanking<NSManagedObjectID>(search.scan)
        try search.forEachRow(all) { row in
            ranking.add(search.scan.findings(in: SearchedTexts(row).texts.map(\.text)), key: row.objectID)
        }
        var found = ranking.hits().map(\.key)
        if !query.orders.isEmpty {
            let chosen = Set(found)
            found = try store.asking { try $0.fetchIdentifiers(all) }.filter(chosen.contains)
        }
        return Array(found.dropFirst(plan.offset).prefix(plan.limit > 0 ? plan.limit : .max))
    }

    private func forEachRow(_ plan: FetchPlan, _ body: (Row) -> Void) throws {
        var plan = plan
        plan.sortDescriptors = store.pagesByKey ? [NSSortDescriptor(key: "objectID", ascending: true)] : []
        let portions = try store.asking { try $0.portions(plan) }
        var size = PortionSize()
        while case let rows = try store.asking({ _ in try portions.next(size.count) }), !rows.isEmpty {
            try EndingSignals.check()
            size.follow(rows)
            for row in rows { body(row) }
        }
    }

    /// Whether an error says that an entity's table is unknown, which does not affect the other entities.
    private static func isUnknown(_ error: NSError) -> Bool {
        error.domain == NSCocoaErrorDomain && error.code == CoreDataErrorCode.persistentStoreIncompatibleSchema
    }
}

/// The texts of an object that are searched: strings, URIs, strings within JSON and within composites.
struct SearchedTexts {
    private(set) var texts: [(property: String, text: String)] = []

    init(_ row: Row) {
        let slots = row.objectID.layout.slots
        for (slot, value) in zip(slots, row.values) where !slot.isTransient {
            guard let attribute = slot.attribute else { continue }
            switch value {
            case .string(let text): texts.append((slot.name, text))
            case .object, .data: add(FieldValue(value, attribute), slot.name)
            default: break
            }
        }
    }

    private mutating func add(_ value: FieldValue, _ property: String) {
        switch value {
        case .string(let text), .url(let text): texts.append((property, text))
        case .json(let json):
            guard let parsed = try? JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)
            else { return }
            add(json: parsed, property)
        case .composite(let elements):
            for element in elements { add(element.value, "\(property).\(element.name)") }
        case .list(let values):
            for value in values { add(value, property) }
        default: break
        }
    }

    private mutating func add(json: Any, _ property: String) {
        switch json {
        case let text as String: texts.append((property, text))
        case let list as [Any]: for element in list { add(json: element, property) }
        case let object as [String: Any]:
            for (_, element) in object.sorted(by: { $0.key < $1.key }) { add(json: element, property) }
        default: break
        }
    }
}
