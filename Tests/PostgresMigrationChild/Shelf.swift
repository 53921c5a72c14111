import Foundation
import Pippin
import PippinPostgres

/// The models of a bookshop, before and after.
enum Before {
    struct Book: CoreModel {
        let id: String
        var title: String
        var pages: Int32 = 0
        var note: String?
    }
}

enum After {
    struct Book: CoreModel {
        let id: String
        var title: String
        var pages: Int64 = 0
        var note: String?
        var price: Double = 9.5
        var reviews: [Review] = []

        static var schema: Schema<Book> { Schema(.defaultValue(\.price, 9.5)) }
    }

    struct Review: CoreModel {
        let id: String
        var stars: Int
    }
}

/// What a plan with a step in Swift makes of them.
enum Rewritten {
    struct Book: CoreModel {
        let id: String
        var name: String
        var pages: Int64 = 0
    }
}

/// A bookshop that is brought to other models, in one of two ways.
package struct Shelf {
    package enum Way: String, CaseIterable, Sendable {
        /// Where it is.
        case inPlace
        /// By a plan with a step in Swift, which makes the tables anew beside the former ones.
        case plan
    }

    private let store: StoreLocation

    package init(at uri: String) { store = .postgres(uri) }

    /// Fills a new shop.
    package func found(_ count: Int) throws {
        let manager = PersistenceManager(models: Before.Book.self, store: store)
        try manager.writeAndWait { access in
            try access.insert(
                (0..<count).map {
                    Before.Book(id: "\($0)", title: "Title \($0)", pages: Int32($0), note: $0 % 3 == 0 ? nil : "note")
                })
        }
    }

    /// Brings it to the next models, if it is not there yet.
    ///
    /// - Returns: how many books there are.
    package func migrate(_ way: Way) async throws -> Int {
        switch way {
        case .inPlace:
            let manager = PersistenceManager(models: After.Book.self, After.Review.self, store: store)
            return try await manager.count(After.Book.self, where: \.price == 9.5)
        case .plan:
            let plan = MigrationPlan(from: ModelVersion("1", models: Before.Book.self))
                .changing(
                    to: ModelVersion("2", models: Rewritten.Book.self),
                    .model(Before.Book.self, to: Rewritten.Book.self) {
                        Rewritten.Book(id: $0.id, name: $0.title.uppercased(), pages: Int64($0.pages))
                    })
            let manager = PersistenceManager(models: Rewritten.Book.self, store: store)
            try await manager.load(migratingBy: plan)
            return try await manager.count(Rewritten.Book.self)
        }
    }
}
