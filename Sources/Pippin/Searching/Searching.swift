public import PredicateFormat
import StoreSession

/// A model that a search found.
public struct SearchHit<Model: CoreModel>: Sendable {
    /// The model.
    public let model: Model
    /// How well it fits: less is better. Ranks can be compared within one search.
    public let rank: Double
    private let scan: SearchScan

    init(_ model: Model, rank: Double, _ scan: SearchScan) {
        (self.model, self.rank, self.scan) = (model, rank, scan)
    }

    /// The piece of a text that has the most of what was searched for.
    ///
    /// ```swift
    /// hit.excerpt(\.text, words: 12).marked("<b>", "</b>")
    /// ```
    ///
    /// - Parameters:
    ///   - property: the text.
    ///   - words: how many words the piece has at most.
    /// - Returns: the piece, with the places of what was found; the text's beginning if nothing of it was found there.
    public func excerpt(_ property: KeyPath<Model, String>, words: Int = 12) -> SearchExcerpt {
        scan.excerpt(of: model[keyPath: property], words: words)
    }

    /// The piece of a text that has the most of what was searched for; nil if there is no text.
    ///
    /// - Parameters:
    ///   - property: the text.
    ///   - words: how many words the piece has at most.
    /// - Returns: the piece, with the places of what was found.
    public func excerpt(_ property: KeyPath<Model, String?>, words: Int = 12) -> SearchExcerpt? {
        model[keyPath: property].map { scan.excerpt(of: $0, words: words) }
    }
}

extension SearchHit: Equatable where Model: Equatable {
    /// Whether both are the same model, found equally well.
    public static func == (left: SearchHit, right: SearchHit) -> Bool {
        left.rank == right.rank && left.model == right.model
    }
}

extension SchemaRule {
    /// The text is searched by ``PersistenceManager/fetch(_:searching:where:limit:)`` and
    /// ``PersistenceManager/search(_:for:where:limit:)``.
    ///
    /// ```swift
    /// Schema(.searchable(\.title, weight: 4), .searchable(\.text))
    /// ```
    ///
    /// A file keeps an index of the words (SQLite's FTS5), which each save brings up to date. The rule can be added and
    /// taken away at any time.
    ///
    /// - Parameters:
    ///   - keyPath: the text, which may be one of a nested struct or of a related model.
    ///   - weight: how much a word in it counts, beside those in other texts.
    ///   - stemming: the language whose endings are ignored in all searched texts of the model.
    /// - Returns: the rule, for ``Schema``.
    public static func searchable(
        _ keyPath: KeyPath<Model, String>, weight: Double = 1, stemming: SearchStemming = .none
    ) -> Self { searchable(PropertyName(keyPath), weight, stemming) }

    /// The same for a text that may be missing, and for a text of a related model: `\.author?.name`.
    ///
    /// A change of the author is a change of the index of all of its books then.
    ///
    /// - Parameters:
    ///   - keyPath: the text, which may be one of a nested struct or of a related model.
    ///   - weight: how much a word in it counts, beside those in other texts.
    ///   - stemming: the language whose endings are ignored in all searched texts of the model.
    /// - Returns: the rule, for ``Schema``.
    public static func searchable(
        _ keyPath: KeyPath<Model, String?>, weight: Double = 1, stemming: SearchStemming = .none
    ) -> Self { searchable(PropertyName(keyPath), weight, stemming) }

    /// The texts of the models in a list are searched as texts of the model that has the list.
    ///
    /// ```swift
    /// Schema(.owns(\.chapters), .searchable(\.title), .searchable(\.chapters, \.title))
    /// ```
    ///
    /// A phrase is found within one of them. A change of one of these models is a change of the index.
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - keyPath: the text of each model in it, which may be one of a nested struct.
    ///   - weight: how much a word in it counts, beside those in other texts.
    ///   - stemming: the language whose endings are ignored in all searched texts of the model.
    /// - Returns: the rule, for ``Schema``.
    public static func searchable<List: Sequence>(
        _ list: KeyPath<Model, List>, _ keyPath: KeyPath<List.Element, String>, weight: Double = 1,
        stemming: SearchStemming = .none
    ) -> Self where List.Element: CoreModel {
        searchable(PropertyName(list).appending(PropertyName(keyPath)), weight, stemming)
    }

    /// The same for texts that may be missing.
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - keyPath: the text of each model in it, which may be one of a nested struct.
    ///   - weight: how much a word in it counts, beside those in other texts.
    ///   - stemming: the language whose endings are ignored in all searched texts of the model.
    /// - Returns: the rule, for ``Schema``.
    public static func searchable<List: Sequence>(
        _ list: KeyPath<Model, List>, _ keyPath: KeyPath<List.Element, String?>, weight: Double = 1,
        stemming: SearchStemming = .none
    ) -> Self where List.Element: CoreModel {
        searchable(PropertyName(list).appending(PropertyName(keyPath)), weight, stemming)
    }

    private static func searchable(_ property: PropertyName, _ weight: Double, _ stemming: SearchStemming) -> Self {
        var info = [SearchInfo.weight: "\(weight)"]
        if stemming == .english { info[SearchInfo.stemming] = "english" }
        return Self(fact: .searched(property, info))
    }
}

/// Which endings of words a search ignores.
public enum SearchStemming: Sendable {
    /// None: words are found as they are.
    case none
    /// English ones: *whales* and *whaling* are found as *whale*.
    case english
}

extension ModelReader {
    /// The models whose texts have what a person looks for, best first.
    ///
    /// ```swift
    /// let books = try store.fetch(Book.self, searching: "whale* -moby \"white sea\"", where: \.price < 20, limit: 20)
    /// ```
    ///
    /// The text is one that people type: words that must all occur, `whal*` for the beginning of a word,
    /// `"white whale"` for words that follow each other, `-moby` for what must not occur, `OR` between alternatives.
    /// Everything else is text; none is an error. A text without words finds nothing.
    ///
    /// - Parameters:
    ///   - type: the models' type, whose schema says what is searched (`SchemaRule.searchable`).
    ///   - text: what to look for.
    ///   - filter: what must hold besides.
    ///   - limit: how many models at most; all of them without one.
    /// - Returns: the models.
    /// - Throws: ``PersistenceError`` with `unknownProperty` for a type without searched texts, and what `fetch`
    ///   throws.
    /// - SQL: `SELECT rowid, rank FROM PIPPIN_SEARCH_<ENTITY> WHERE … MATCH ? ORDER BY rank LIMIT <limit>`
    public func fetch<Model: CoreModel>(
        _ type: Model.Type, searching text: String, where filter: Filter<Model> = .all, limit: Int? = nil
    ) throws -> [Model] { try TextSearch(type, text, access).models(where: filter, limit: limit).map(\.model) }

    /// The models whose texts have what a person looks for, best first, with their ranks and excerpts.
    ///
    /// ```swift
    /// for hit in try store.search(Book.self, for: text, limit: 20) {
    ///     print(hit.model.title, hit.excerpt(\.text).marked("[", "]"))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type, whose schema says what is searched (`SchemaRule.searchable`).
    ///   - text: what to look for, as for ``fetch(_:searching:where:limit:)``.
    ///   - filter: what must hold besides.
    ///   - limit: how many models at most; all of them without one.
    /// - Returns: the models, each with its rank.
    /// - Throws: ``PersistenceError`` with `unknownProperty` for a type without searched texts, and what `fetch`
    ///   throws.
    /// - SQL: `SELECT rowid, rank FROM PIPPIN_SEARCH_<ENTITY> WHERE … MATCH ? ORDER BY rank LIMIT <limit>`
    public func search<Model: CoreModel>(
        _ type: Model.Type, for text: String, where filter: Filter<Model> = .all, limit: Int? = nil
    ) throws -> [SearchHit<Model>] { try TextSearch(type, text, access).models(where: filter, limit: limit) }
}

extension PersistenceManager {
    /// The models whose texts have what a person looks for, best first.
    ///
    /// ```swift
    /// let books = try await manager.fetch(Book.self, searching: "whale* -moby", where: \.price < 20, limit: 20)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type, whose schema says what is searched (`SchemaRule.searchable`).
    ///   - text: what to look for, as people type it: ``ModelReader/fetch(_:searching:where:limit:)``.
    ///   - filter: what must hold besides.
    ///   - limit: how many models at most; all of them without one.
    /// - Returns: the models.
    /// - Throws: ``PersistenceError`` with `unknownProperty` for a type without searched texts, and what `fetch`
    ///   throws.
    /// - SQL: `SELECT rowid, rank FROM PIPPIN_SEARCH_<ENTITY> WHERE … MATCH ? ORDER BY rank LIMIT <limit>`
    public func fetch<Model: CoreModel>(
        _ type: Model.Type, searching text: String, where filter: Filter<Model> = .all, limit: Int? = nil
    ) async throws -> [Model] {
        try await asking { try $0.fetch(type, searching: text, where: filter, limit: limit) }
    }

    /// The models whose texts have what a person looks for, best first, with their ranks and excerpts.
    ///
    /// - Parameters:
    ///   - type: the models' type, whose schema says what is searched (`SchemaRule.searchable`).
    ///   - text: what to look for, as people type it: ``ModelReader/fetch(_:searching:where:limit:)``.
    ///   - filter: what must hold besides.
    ///   - limit: how many models at most; all of them without one.
    /// - Returns: the models, each with its rank.
    /// - Throws: ``PersistenceError`` with `unknownProperty` for a type without searched texts, and what `fetch`
    ///   throws.
    /// - SQL: `SELECT rowid, rank FROM PIPPIN_SEARCH_<ENTITY> WHERE … MATCH ? ORDER BY rank LIMIT <limit>`
    public func search<Model: CoreModel>(
        _ type: Model.Type, for text: String, where filter: Filter<Model> = .all, limit: Int? = nil
    ) async throws -> [SearchHit<Model>] {
        try await asking { try $0.search(type, for: text, where: filter, limit: limit) }
    }
}

/// One search of a block: by the store's index, or by comparing the texts one by one, with the same result.
private struct TextSearch<Model: CoreModel> {
    /// How many rows that were found are checked against a filter at a time.
    private static var portion: Int { 400 }
    private static var manyRows: Int { 25_600 }

    private let access: ModelAccess
    private let fetcher: StructFetcher<Model>
    private let fields: SearchedFields
    private let query: SearchQuery
    private let scan: SearchScan

    init(_ type: Model.Type, _ text: String, _ access: ModelAccess) throws {
        self.access = access
        fetcher = try access.fetcher(type)
        let plan = fetcher.plan
        guard let fields = SearchedFields(of: try access.manager.storeRows.layout(of: plan)) else {
            throw PersistenceError(
                .unknownProperty, entity: plan.name, known: plan.propertyNames,
                "No text of '\(plan.name)' is searched. Add .searchable(…) to its schema for each text that is to be.")
        }
        self.fields = fields
        query = SearchQuery(text, tokenizer: fields.tokenizer)
        scan = SearchScan(query, tokenizer: fields.tokenizer)
    }

    func models(where filter: Filter<Model>, limit: Int?) throws -> [SearchHit<Model>] {
        guard !query.isEmpty, limit ?? 1 > 0 else { return [] }
        let selection = try access.selection(filter, fetcher.plan)
        return try PersistenceError.explaining(.readFailed) {
            let source = try access.source()
            if let rows = source as? StoreRows, let hits = try indexed(rows, selection, limit) { return hits }
            return try compared(source, selection, limit)
        }
    }

    /// What the store's index finds; nil if it has none that is up to date.
    private func indexed(
        _ rows: StoreRows, _ selection: RecordSelection, _ limit: Int?
    ) throws -> [SearchHit<Model>]? {
        func matches(_ limit: Int?) throws -> [SearchMatch]? {
            try rows.scope.reading(rows.session) { try rows.session.search(query, in: fields, limit: limit) }
        }
        let isPlain = selection.predicate == nil
        guard let first = try matches(isPlain ? limit : nil) else { return nil }
        let hits = try hits(first, rows, selection, limit)
        // An index may still know rows of which SQLite does not report that they were deleted.
        guard isPlain, let limit, hits.count < limit, first.count == limit, let all = try matches(nil) else {
            return hits
        }
        return try self.hits(all, rows, selection, limit)
    }

    /// The models of rows that a filter selects.
    private func hits(
        _ matches: [SearchMatch], _ rows: StoreRows, _ selection: RecordSelection, _ limit: Int?
    ) throws -> [SearchHit<Model>] {
        var hits: [SearchHit<Model>] = []
        var rest = matches[...]
        // A limit is mostly reached soon. The more rows a filter leaves out, the more are read at once.
        var size = limit == nil ? Self.manyRows : Self.portion
        while !rest.isEmpty, hits.count < limit ?? .max {
            let portion = rest.prefix(size)
            rest = rest.dropFirst(size)
            size = min(4 * size, Self.manyRows)
            var these = selection
            let keys = try rows.predicate(of: fetcher.plan, keys: Set(portion.map(\.key)))
            if let keys { these.narrow(to: keys) }
            var byKey: [Int64: Row] = [:]
            for row in try rows.rows(of: fetcher.plan, these) { byKey[row.objectID.key] = row }
            let found = portion.filter { byKey[$0.key] != nil }
            let models = try fetcher.models(of: ContiguousArray(found.compactMap { byKey[$0.key] }), rows)
            hits += zip(found, models).map { SearchHit($1, rank: $0.rank, scan) }
        }
        return limit.map { Array(hits.prefix($0)) } ?? hits
    }

    /// What the texts of all models that a filter selects have of the query.
    private func compared(
        _ source: any StructRows, _ selection: RecordSelection, _ limit: Int?
    ) throws -> [SearchHit<Model>] {
        var ranking = SearchRanking<Model.ID>(scan, weights: fields.weights)
        if fields.relationships.isEmpty {
            try compare(source, selection, &ranking)
        } else {
            try compareWithRelated(source, selection, &ranking)
        }
        let found = limit.map { Array(ranking.hits().prefix($0)) } ?? ranking.hits()
        let models = try fetcher.models(inOrderOf: found.map(\.key), source)
        let ranks = Dictionary(found.map { ($0.key, $0.rank) }) { first, _ in first }
        return models.compactMap { model in ranks[model.id].map { SearchHit(model, rank: $0, scan) } }
    }

    private func compare(
        _ source: any StructRows, _ selection: RecordSelection, _ ranking: inout SearchRanking<Model.ID>
    ) throws {
        let plan = fetcher.plan
        let uidKind = plan.record.attributeKinds[plan.uidField] ?? .string
        let paths =
            [AttributePath(path: plan.uidKey, kind: uidKind, relationships: nil)]
            + fields.fields.map {
                AttributePath(path: $0.path.joined(separator: "."), kind: .string, relationships: nil)
            }
        try source.readTuples(of: plan, selection, at: paths) { values in
            for start in stride(from: 0, to: values.count, by: paths.count) {
                let texts = (1..<paths.count).map { values[start + $0].searchedText }
                try ranking.add(scan.findings(in: texts), key: try id(values[start]))
            }
        }
    }

    private func id(_ value: StoredValue) throws -> Model.ID {
        try AttributeDecoder.value(Model.ID.self, value, entity: fetcher.plan.name, key: fetcher.plan.uidKey)
    }

    /// The same with texts of related models.
    private func compareWithRelated(
        _ source: any StructRows, _ selection: RecordSelection, _ ranking: inout SearchRanking<Model.ID>
    ) throws {
        let plan = fetcher.plan
        let uid = try source.slots(of: plan)[plan.uidField]
        let rows = try source.rows(of: plan, selection)
        for start in stride(from: 0, to: rows.count, by: Self.portion) {
            let portion = rows[start..<min(start + Self.portion, rows.count)]
            let related = try fields.relationships.map { try self.related($0, portion, source) }
            for (place, row) in portion.enumerated() {
                let texts = fields.texts(of: row.objectID.layout, row.values, related: related.map { $0[place] })
                try ranking.add(scan.findings(in: texts), key: try id(row.values[uid]))
            }
        }
    }

    /// The rows at the end of a relationship, for each of some rows.
    private func related(
        _ relationship: RelationshipLayout, _ rows: ArraySlice<Row>, _ source: any StructRows
    ) throws -> [[Row]] {
        let plan = fetcher.plan
        guard let field = plan.fields.first(where: { $0.name == relationship.name && $0.mark == nil }),
            let model = field.related
        else { return rows.map { _ in [] } }
        let identifiers: [[NSManagedObjectID]]
        if relationship.isToMany {
            identifiers = try source.destinations(of: field, of: plan, for: rows.map(\.objectID))
        } else {
            identifiers = rows.map { row in
                guard let slot = row.objectID.layout.slotIndex(forName: relationship.name),
                    case .identifier(let identifier) = row.values[slot]
                else { return [] }
                return [identifier]
            }
        }
        let all = Array(Set(identifiers.joined()))
        let found = try source.rows(of: fetcher.registry.plan(of: model.type), for: all)
        let byIdentifier = Dictionary(found.map { ($0.objectID, $0) }) { first, _ in first }
        return identifiers.map { $0.compactMap { byIdentifier[$0] } }
    }
}
