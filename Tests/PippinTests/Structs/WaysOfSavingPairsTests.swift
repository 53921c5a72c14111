import CoreData
import Foundation
import TestSupport
import Testing

@testable import Pippin

private struct Article: CoreModel, Equatable {
    let id: Int
    var title: String
    var tags: [Tag]
    var labels: Set<Sticker>
    var related: [Reference<Tag>]?
    /// The other side is the critics' property.
    var critics: [Reference<Critic>]
    var lead: Reference<Tag>?
    var parts: [Part]

    static var schema: Schema<Article> {
        Schema(.owns(\.parts), .inverse(\.critics, of: \Critic.reviewed))
    }
}

private struct Tag: CoreModel, Equatable {
    let id: String
    var name: String
    var theme: Theme?
    var best: [Reference<Article>]
}

private struct Theme: CoreModel, Equatable {
    let id: Int
    var name: String
}

private struct Sticker: CoreModel, Hashable {
    let id: Int
    var weight: Int?
}

private struct Part: CoreModel, Equatable {
    let id: Int
    var text: String
    var labels: [Sticker]
}

private struct Critic: CoreModel, Equatable {
    let id: Int
    var name: String
    var reviewed: [Reference<Article>]
    var follows: Set<Reference<Critic>>
}

/// Both sides of one relationship, each of which says what is in it.
private struct Author: CoreModel, Equatable {
    let id: Int
    var books: [Book]

    static var schema: Schema<Author> { Schema(.inverse(\.books, of: \Book.authors)) }
}

private struct Book: CoreModel, Equatable {
    let id: Int
    var authors: [Reference<Author>]
}

@Suite("Saving models that are in many others as rows, and as objects of a context")
struct WaysOfSavingPairsTests {
    private let stores: BothWays

    init() throws {
        stores = try BothWays {
            PersistenceManager(models: Article.self, Critic.self, Author.self, store: $0)
        }
        try stores.save((0..<6).map { Tag(id: "t\($0)", name: "Tag") })
        try stores.save((0..<5).map { Critic(id: $0, name: "Critic", reviewed: [], follows: []) })
        try stores.save((0..<4).map { Author(id: $0, books: []) })
    }

    @Test(
        "leave the same rows, pairs, places, keys, versions and changes behind, whatever is in what",
        arguments: 1...BothWays.series)
    func random(seed: UInt64) throws {
        try forEachStep(seed: seed) { step in
            let (rows, objects) = (try stores.contentOfRows(), try stores.contentOfObjects())
            #expect(rows == objects, "step \(step)")
        }
    }

    @Test("give equal models back, in files and in databases", arguments: 1...12 as ClosedRange<UInt64>)
    func equalModels(seed: UInt64) throws {
        try forEachStep(seed: seed) { step in
            func models(_ manager: PersistenceManager) throws -> ([Article], [Tag], [Critic], [Author], [Book]) {
                try manager.readAndWait { store in
                    (
                        try store.fetch(Article.self, sortedBy: .ascending(\.id)),
                        try store.fetch(Tag.self, sortedBy: .ascending(\.id)),
                        try store.fetch(Critic.self, sortedBy: .ascending(\.id)),
                        try store.fetch(Author.self, sortedBy: .ascending(\.id)),
                        try store.fetch(Book.self, sortedBy: .ascending(\.id))
                    )
                }
            }
            let (rows, objects) = (try models(stores.rows), try models(stores.objects))
            #expect(rows == objects, "step \(step)")
        }
    }

    private func forEachStep(seed: UInt64, _ check: (_ step: Int) throws -> Void) throws {
        var random = Steps(seed: seed)
        var known: [Article] = []
        for step in 1...16 {
            switch random.number(10) {
            case 0: try stores.save(random.tags(known))
            case 1: try stores.save(random.critics(known))
            case 2: try stores.save((0...random.number(3)).map { random.label($0 * 2) })
            case 3: try stores.save(random.authors())
            case 4, 5:
                try stores.save(
                    try stores.rows.readAndWait { random.authors(try $0.fetch(Author.self), try $0.fetch(Book.self)) })
            default:
                let changed = random.articles(known)
                try stores.save(changed)
                for article in changed {
                    known.removeAll { $0.id == article.id }
                    known.append(article)
                }
            }
            try check(step)
            let stored = try stores.rows.readAndWait { try $0.fetch(Article.self, sortedBy: .ascending(\.id)) }
            known.sort { $0.id < $1.id }
            #expect(stored.map { $0.tags.map(\.id) } == known.map { $0.tags.map(\.id) }, "step \(step)")
            #expect(stored.map { Set($0.labels.map(\.id)) } == known.map { Set($0.labels.map(\.id)) }, "step \(step)")
            #expect(stored.map(\.related) == known.map(\.related), "step \(step)")
        }
    }

    private func article(
        _ id: Int, tags: [String] = [], labels: [Int] = [], critics: [Int] = []
    ) -> Article {
        Article(
            id: id, title: "Article", tags: tags.map { Tag(id: $0, name: "Tag") },
            labels: Set(labels.map { Sticker(id: $0) }), related: nil, critics: critics.map { Reference(id: $0) },
            lead: nil, parts: [])
    }

    @Test("goes as rows: new models with new and known ones, others in another order, none")
    func asRows() throws {
        let isRows = try stores.goesAsRows { manager in
            try manager.writeAndWait {
                try $0.save([
                    article(1, tags: ["t0", "new", "t1"], labels: [1, 2], critics: [1]),
                    article(2, tags: ["t1", "t0"]),
                ])
            }
            try manager.writeAndWait {
                try $0.save([article(1, tags: ["t1", "t0", "new"], labels: [2], critics: [0, 1])])
            }
            try manager.writeAndWait { try $0.save([article(2), article(3, tags: ["t0"])]) }
            try manager.writeAndWait {
                try $0.save([Critic(id: 1, name: "Critic", reviewed: [Reference(id: 3)], follows: [Reference(id: 2)])])
            }
        }
        #expect(isRows == [true, true, true, true])
        let pairs = try plainRows(
            """
            SELECT ZARTICLE.ZID, ZTAG.ZID FROM Z_1TAGS JOIN ZARTICLE ON ZARTICLE.Z_PK = Z_1TAGSOFARTICLE
            JOIN ZTAG ON ZTAG.Z_PK = Z_7TAGS ORDER BY ZARTICLE.ZID, Z_FOK_7TAGS
            """, in: stores.file)
        #expect(pairs == [["1", "t1"], ["1", "t0"], ["1", "new"], ["3", "t0"]])
        // Made, come to by two articles at once, left by one as another came; put in another order only; made and come to at once.
        let versions = try plainRows(
            "SELECT ZID, Z_OPT FROM ZTAG WHERE ZID IN ('t0', 't1', 'new') ORDER BY ZID", in: stores.file)
        #expect(versions == [["new", "1"], ["t0", "3"], ["t1", "3"]])
    }

    @Test("and a relationship of which both sides are models' properties goes as rows where they say the same")
    func bothSides() throws {
        func author(_ id: Int, _ books: [Int: [Int]]) -> Author {
            Author(
                id: id,
                books: books.keys.sorted().map { Book(id: $0, authors: (books[$0] ?? []).map { Reference(id: $0) }) })
        }
        let isRows = try stores.goesAsRows { manager in
            try manager.writeAndWait { try $0.save([author(1, [1: [1], 2: [1, 2]]), author(2, [2: [1, 2]])]) }
            try manager.writeAndWait { try $0.save([author(2, [1: [2, 1], 2: [2, 1]])]) }
            try manager.writeAndWait { try $0.save([author(3, [1: [1]])]) }
        }
        #expect(isRows == [true, true, false])
        let books = try stores.rows.readAndWait { try $0.fetch(Book.self, sortedBy: .ascending(\.id)) }
        #expect(books.map { $0.authors.map(\.id) } == [[1], [2, 1]])
    }

    @Test("and what was saved unchanged writes nothing, neither models nor what is in them")
    func unchanged() throws {
        let articles = (0..<300).map { number in
            article(
                number, tags: ["t\(number % 6)", "t\((number + 1) % 6)"], labels: [number % 7, 8],
                critics: [number % 5])
        }
        try stores.save(articles)
        let before = try stores.contentOfRows()
        #expect(try stores.goesAsRows { try $0.writeAndWait { try $0.save(articles) } }.isEmpty)
        #expect(try stores.contentOfRows() == before)
        #expect(try stores.contentOfObjects() == before)
    }

    @Test("and a model that is in a list twice, or a reference to nothing, is the same error, with nothing saved")
    func refusals() throws {
        for isDirect in [true, false] {
            func code(_ article: Article) -> PersistenceError.Code? {
                #expect(throws: PersistenceError.self) {
                    try stores.rows.writeAndWait { store in
                        store.access.savesRows = isDirect
                        try store.save(article)
                    }
                }?.code
            }
            #expect(code(article(1, tags: ["t0", "t0"])) == .unwritable)
            #expect(code(article(1, tags: ["t0"], critics: [0, 77])) == .missingReference)
        }
        #expect(try plainNumber("SELECT COUNT(*) FROM ZARTICLE", in: stores.file) == 0)
        #expect(try plainNumber("SELECT COUNT(*) FROM ZTAG WHERE Z_OPT > 1", in: stores.file) == 0)
    }

    @Test("and counts as changed what comes into a relationship, as what has it does")
    func counts() throws {
        let critics = (0..<3).map { Critic(id: $0, name: "Critic", reviewed: [], follows: []) }
        let follower = Critic(id: 0, name: "Critic", reviewed: [], follows: [Reference(id: 2)])
        for manager in [stores.rows, stores.objects] {
            try manager.writeAndWait { store in
                store.access.savesRows = manager === stores.rows
                let graph = try ModelGraph([follower, critics[1], critics[2]], registry: manager.registry)
                let counts = try store.access.save(graph, .any, given: 3)
                #expect(counts == (inserted: 0, updated: 2, unchanged: 1))
            }
        }
    }
}

extension Tag {
    fileprivate init(id: String, name: String) { self.init(id: id, name: name, theme: nil, best: []) }
}

extension Sticker {
    fileprivate init(id: Int) { self.init(id: id, weight: nil) }
}

/// Made-up saves, the same for each seed.
private struct Steps {
    private var numbers: SeededNumbers
    private var nextPart = 0

    init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

    mutating func number(_ count: Int) -> Int { numbers.next(below: count) }

    mutating func label(_ id: Int) -> Sticker { Sticker(id: id, weight: number(3) == 0 ? nil : number(2)) }

    /// Some of the tags, those of one save told the same, and now and then a new one.
    private mutating func tag(_ index: Int, _ known: [Article]) -> Tag {
        var tag = Tag(id: "t\(index)", name: number(6) == 0 ? "Tag \(number(2))" : "Tag")
        if number(3) == 0 { tag.theme = Theme(id: number(3), name: "Theme") }
        if !known.isEmpty, number(4) == 0 { tag.best = [Reference(id: known[number(known.count)].id)] }
        return tag
    }

    mutating func tags(_ known: [Article]) -> [Tag] {
        let first = number(8)
        return (first...first + number(3)).map { tag($0, known) }
    }

    /// Numbers in any order, each once.
    private mutating func some(of count: Int, atMost most: Int) -> [Int] {
        var chosen: [Int] = []
        for _ in 0..<number(most + 1) {
            let next = number(count)
            if !chosen.contains(next) { chosen.append(next) }
        }
        return chosen
    }

    mutating func critics(_ known: [Article]) -> [Critic] {
        let saved = some(of: 7, atMost: 4)
        // Those that have been there from the beginning, and those of the same save.
        let others = Array(0..<5) + saved.filter { $0 >= 5 }
        return saved.map { id in
            let reviewed = known.isEmpty ? [] : some(of: known.count, atMost: 4).map { known[$0].id }
            return Critic(
                id: id, name: "Critic", reviewed: reviewed.map { Reference(id: $0) },
                follows: Set(some(of: others.count, atMost: 3).map { Reference(id: others[$0]) }))
        }
    }

    mutating func authors() -> [Author] {
        some(of: 6, atMost: 3).map { id in
            let books = some(of: 5, atMost: 3).map { book in
                Book(id: book, authors: some(of: 4, atMost: 2).map { Reference(id: $0) })
            }
            return Author(id: id, books: books)
        }
    }

    /// Authors and their books, of which each has the authors that have it.
    mutating func authors(_ authors: [Author], _ books: [Book]) -> [Author] {
        var authorsOf = Dictionary(uniqueKeysWithValues: books.map { ($0.id, $0.authors.map(\.id)) })
        var booksOf = Dictionary(uniqueKeysWithValues: authors.map { ($0.id, $0.books.map(\.id)) })
        let saved = some(of: 4, atMost: 3)
        for author in saved {
            let former = booksOf[author] ?? []
            let now = some(of: 7, atMost: 4)
            for book in former where !now.contains(book) { authorsOf[book]?.removeAll { $0 == author } }
            for book in now where !(authorsOf[book] ?? []).contains(author) {
                authorsOf[book, default: []].insert(author, at: number((authorsOf[book] ?? []).count + 1))
            }
            booksOf[author] = now
        }
        return saved.map { author in
            let books = (booksOf[author] ?? []).map { book in
                Book(id: book, authors: (authorsOf[book] ?? []).map { Reference(id: $0) })
            }
            return Author(id: author, books: books)
        }
    }

    /// A list with some changes.
    private mutating func change<Element>(
        _ list: inout [Element], upTo count: Int, _ make: (Int, inout Steps) -> Element?
    ) {
        for _ in 0..<number(3) {
            switch number(4) {
            case 0 where !list.isEmpty: list.remove(at: number(list.count))
            case 1 where list.count > 1: list.swapAt(0, number(list.count))
            default:
                if let new = make(number(count), &self) { list.insert(new, at: number(list.count + 1)) }
            }
        }
    }

    /// Some of the known articles, changed or not, and some new ones.
    mutating func articles(_ known: [Article]) -> [Article] {
        let tags = (0..<9).map { tag($0, known) }
        let labels = (0..<7).map { label($0) }
        var articles: [Article] = []
        for _ in 0...number(5) {
            let former = known.isEmpty || number(3) == 0 ? nil : known[number(known.count)]
            var article =
                former
                ?? Article(
                    id: number(30), title: "new", tags: [], labels: [], related: nil, critics: [], lead: nil, parts: [])
            if articles.contains(where: { $0.id == article.id }) { continue }
            if former == nil, known.contains(where: { $0.id == article.id }) { continue }
            if number(3) == 0 { article.title = "title \(number(3))" }
            if number(4) != 0 {
                change(&article.tags, upTo: 9) { [list = article.tags] index, _ in
                    list.contains { $0.id == tags[index].id } ? nil : tags[index]
                }
                var seen: Set<String> = []
                article.tags.removeAll { !seen.insert($0.id).inserted }
            }
            if number(2) == 0 { article.labels = Set(some(of: 7, atMost: 4).map { labels[$0] }) }
            switch number(6) {
            case 0: article.related = nil
            case 1: article.related = some(of: 6, atMost: 3).map { Reference(id: "t\($0)") }
            default: break
            }
            if number(3) == 0 { article.critics = some(of: 5, atMost: 3).map { Reference(id: $0) } }
            if number(3) == 0 { article.lead = number(3) == 0 ? nil : Reference(id: "t\(number(6))") }
            switch number(5) {
            case 0:
                nextPart += 1
                article.parts.append(Part(id: nextPart, text: "new", labels: some(of: 7, atMost: 2).map { labels[$0] }))
            case 1 where !article.parts.isEmpty:
                article.parts[number(article.parts.count)].labels = some(of: 7, atMost: 2).map { labels[$0] }
            case 2 where !article.parts.isEmpty: article.parts.removeLast()
            default: break
            }
            articles.append(article)
        }
        return articles
    }
}
