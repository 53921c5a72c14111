import Pippin
import TestSupport

// What the tests of the vocabulary work with: books with reviews, authors and awards.

struct Novelist: CoreModel, Equatable {
    let id: String
    var name: String
}

struct Critique: CoreModel, Equatable {
    let id: Int
    var stars: Int
    var text: String?
}

struct Edition: CoreModel, Equatable {
    enum Binding: String, Codable, Sendable { case cloth, paper }

    let id: String
    var title: String
    var price: Decimal?
    var pages = 100
    var binding = Binding.paper
    var published = Date(timeIntervalSinceReferenceDate: 0)
    var author: Novelist?
    var reviews: [Critique] = []
    var rivals: Set<Reference<Edition>>?

    static var schema: Schema<Edition> { Schema(.owns(\.reviews)) }
}

/// A store of editions in a file of its own.
final class Bookcase: StoreFile, Sendable {
    private let folder: TestFolder
    let manager: PersistenceManager
    var file: URL { folder.file("bookcase.sqlite") }

    static let austen = Novelist(id: "austen", name: "Jane Austen")
    static let melville = Novelist(id: "melville", name: "Herman Melville")
    static let emma = Edition(
        id: "emma", title: "Emma", price: 10, pages: 300, author: austen,
        reviews: [Critique(id: 1, stars: 5, text: "lovely"), Critique(id: 2, stars: 2)])
    static let persuasion = Edition(
        id: "persuasion", title: "Persuasion", price: 8, pages: 250, binding: .cloth, author: austen,
        reviews: [Critique(id: 3, stars: 5)], rivals: [Reference(emma)])
    static let whale = Edition(id: "whale", title: "Moby-Dick", pages: 600, author: melville, rivals: [])
    static let all = [emma, persuasion, whale]

    init(isFilled: Bool = true) throws {
        folder = try TestFolder()
        manager = PersistenceManager(models: Edition.self, store: .file(folder.file("bookcase.sqlite")))
        if isFilled { try manager.writeAndWait { try $0.save(Self.all) } }
    }
}
