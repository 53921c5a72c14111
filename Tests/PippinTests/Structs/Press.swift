import Foundation

@testable import Pippin

/// Models that are in many others, by relationships of all kinds.
enum Press {
    struct Article: CoreModel, Equatable {
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

    struct Tag: CoreModel, Equatable {
        let id: String
        var name: String
        var theme: Theme?
        var best: [Reference<Article>]
    }

    struct Theme: CoreModel, Equatable {
        let id: Int
        var name: String
    }

    struct Sticker: CoreModel, Hashable {
        let id: Int
        var weight: Int?
    }

    struct Part: CoreModel, Equatable {
        let id: Int
        var text: String
        var labels: [Sticker]
    }

    struct Critic: CoreModel, Equatable {
        let id: Int
        var name: String
        var reviewed: [Reference<Article>]
        var follows: Set<Reference<Critic>>
    }

    /// Both sides of one relationship, each of which says what is in it.
    struct Author: CoreModel, Equatable {
        let id: Int
        var books: [Book]

        static var schema: Schema<Author> { Schema(.inverse(\.books, of: \Book.authors)) }
    }

    struct Book: CoreModel, Equatable {
        let id: Int
        var authors: [Reference<Author>]
    }
}

extension Press.Tag {
    init(id: String, name: String) { self.init(id: id, name: name, theme: nil, best: []) }
}

extension Press.Sticker {
    init(id: Int) { self.init(id: id, weight: nil) }
}
