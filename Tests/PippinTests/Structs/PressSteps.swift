import Foundation

@testable import Pippin

/// Made-up saves, the same for each seed.
struct PressSteps {
    private var numbers: SeededNumbers
    private var nextPart = 0

    init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

    mutating func number(_ count: Int) -> Int { numbers.next(below: count) }

    mutating func label(_ id: Int) -> Press.Sticker { Press.Sticker(id: id, weight: number(3) == 0 ? nil : number(2)) }

    /// Some of the tags, those of one save told the same, and now and then a new one.
    private mutating func tag(_ index: Int, _ known: [Press.Article]) -> Press.Tag {
        var tag = Press.Tag(id: "t\(index)", name: number(6) == 0 ? "Tag \(number(2))" : "Tag")
        if number(3) == 0 { tag.theme = Press.Theme(id: number(3), name: "Theme") }
        if !known.isEmpty, number(4) == 0 { tag.best = [Reference(id: known[number(known.count)].id)] }
        return tag
    }

    mutating func tags(_ known: [Press.Article]) -> [Press.Tag] {
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

    mutating func critics(_ known: [Press.Article]) -> [Press.Critic] {
        let saved = some(of: 7, atMost: 4)
        // Those that have been there from the beginning, and those of the same save.
        let others = Array(0..<5) + saved.filter { $0 >= 5 }
        return saved.map { id in
            let reviewed = known.isEmpty ? [] : some(of: known.count, atMost: 4).map { known[$0].id }
            return Press.Critic(
                id: id, name: "Critic", reviewed: reviewed.map { Reference(id: $0) },
                follows: Set(some(of: others.count, atMost: 3).map { Reference(id: others[$0]) }))
        }
    }

    mutating func authors() -> [Press.Author] {
        let all = (0..<5).map { Press.Book(id: $0, authors: some(of: 4, atMost: 2).map { Reference(id: $0) }) }
        return some(of: 6, atMost: 3).map { id in
            let books = some(of: 5, atMost: 3).map { all[$0] }
            return Press.Author(id: id, books: books)
        }
    }

    /// Authors and their books, of which each has the authors that have it.
    mutating func authors(_ authors: [Press.Author], _ books: [Press.Book]) -> [Press.Author] {
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
                Press.Book(id: book, authors: (authorsOf[book] ?? []).map { Reference(id: $0) })
            }
            return Press.Author(id: author, books: books)
        }
    }

    /// A list with some changes.
    private mutating func change<Element>(
        _ list: inout [Element], upTo count: Int, _ make: (Int, inout PressSteps) -> Element?
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
    mutating func articles(_ known: [Press.Article]) -> [Press.Article] {
        let tags = (0..<9).map { tag($0, known) }
        let labels = (0..<7).map { label($0) }
        var articles: [Press.Article] = []
        for _ in 0...number(5) {
            let former = known.isEmpty || number(3) == 0 ? nil : known[number(known.count)]
            var article =
                former
                ?? Press.Article(
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
                article.parts.append(
                    Press.Part(id: nextPart, text: "new", labels: some(of: 7, atMost: 2).map { labels[$0] }))
            case 1 where !article.parts.isEmpty:
                article.parts[number(article.parts.count)].labels = some(of: 7, atMost: 2).map { labels[$0] }
            case 2 where !article.parts.isEmpty: article.parts.removeLast()
            default: break
            }
            articles.append(article)
        }
        agree(&articles)
        return articles
    }

    /// Makes the copies of a model in one save equal, as they must be: the first one counts.
    private func agree(_ articles: inout [Press.Article]) {
        var (tags, labels): ([String: Press.Tag], [Int: Press.Sticker]) = ([:], [:])
        func first<Model: CoreModel>(_ model: Model, _ known: inout [Model.ID: Model]) -> Model {
            known[model.id] = known[model.id] ?? model
            return known[model.id] ?? model
        }
        for index in articles.indices {
            articles[index].tags = articles[index].tags.map { first($0, &tags) }
            articles[index].labels = Set(articles[index].labels.sorted { $0.id < $1.id }.map { first($0, &labels) })
            for part in articles[index].parts.indices {
                articles[index].parts[part].labels = articles[index].parts[part].labels.map { first($0, &labels) }
            }
        }
    }
}
