import CoreData
import Foundation
import TestSupport
import Testing

@testable import Pippin

private typealias Article = Press.Article
private typealias Tag = Press.Tag
private typealias Sticker = Press.Sticker
private typealias Critic = Press.Critic
private typealias Author = Press.Author
private typealias Book = Press.Book

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
        var random = PressSteps(seed: seed)
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
        // Made, come to by two articles at once, left by one as another came; put in another order only; made and come
        // to at once.
        let versions = try plainRows(
            "SELECT ZID, Z_OPT FROM ZTAG WHERE ZID IN ('t0', 't1', 'new') ORDER BY ZID", in: stores.file)
        #expect(versions == [["new", "1"], ["t0", "3"], ["t1", "3"]])
    }

    @Test("A relationship of which both sides are models' properties goes as rows, whatever each of them says")
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
        #expect(isRows == [true, true, true])
        let books = try stores.rows.readAndWait { try $0.fetch(Book.self, sortedBy: .ascending(\.id)) }
        #expect(books.map { $0.authors.map(\.id) } == [[1], [2, 1]])
    }

    @Test("What was saved unchanged writes nothing, neither models nor what is in them")
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

    @Test("A model that is in a list twice, or a reference to nothing, is the same error, with nothing saved")
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

    @Test("A save counts as changed what comes into a relationship, as what has it does")
    func counts() throws {
        let critics = (0..<3).map { Critic(id: $0, name: "Critic", reviewed: [], follows: []) }
        let follower = Critic(id: 0, name: "Critic", reviewed: [], follows: [Reference(id: 2)])
        for manager in [stores.rows, stores.objects] {
            try manager.writeAndWait { store in
                store.access.savesRows = manager === stores.rows
                let graph = try ModelGraph([follower, critics[1], critics[2]], registry: manager.registry)
                let outcomes = try store.access.save(graph, .any)
                #expect(outcomes.count { $0 == .updated } == 2 && outcomes.count { $0 == .unchanged } == 1)
            }
        }
    }
}
