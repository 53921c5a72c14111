import Pippin

struct Post: CoreModel {
    let id: Int
    var title: String
    var author: Writer
    var labels: [Label]
    var comments: [Comment]

    static var schema: Schema<Post> { Schema(.owns(\.comments)) }
}

struct Writer: CoreModel {
    let id: Int
    var name: String
}

struct Label: CoreModel {
    let id: String
}

struct Comment: CoreModel {
    let id: Int
    var text: String
    var stars: Int
}

struct Leaf: CoreModel {
    let id: Int
    var name: String
    var leaves: [Leaf]
}

struct Visit: CoreModel {
    let id: Int
    var city: Reference<City>
    var day: Date
}

/// Structs within structs: one, several, shared, owned, of their own type.
let graphKinds = [
    Kind(
        "graphs: posts with writer, labels and comments, new",
        waiting: { trial in
            let manager = posts(trial)
            try await manager.load()
            let all = somePosts(trial.size)
            try await trial.measure { try await manager.save(all) }
        }),
    Kind(
        "graphs: posts, unchanged",
        waiting: { trial in
            let (manager, all) = (posts(trial), somePosts(trial.size))
            try await manager.save(all)
            try await trial.measure { try await manager.save(all) }
        }),
    Kind(
        "graphs: posts, one comment more in each",
        waiting: { trial in
            var (manager, all) = (posts(trial), somePosts(trial.size))
            try await manager.save(all)
            for index in all.indices { all[index].comments.append(Comment(id: -1 - index, text: "more", stars: 1)) }
            let changed = all
            try await trial.measure { try await manager.save(changed) }
        }),
    Kind(
        "graphs: posts, other writers and labels",
        waiting: { trial in
            var (manager, all) = (posts(trial), somePosts(trial.size))
            try await manager.save(all)
            for index in all.indices {
                all[index].author = Writer(id: (index + 1) % 50, name: "Writer \((index + 1) % 50)")
                all[index].labels.removeFirst()
            }
            let changed = all
            try await trial.measure { try await manager.save(changed) }
        }),
    Kind(
        "graphs: posts, fetched",
        waiting: { trial in
            let manager = posts(trial)
            try await manager.save(somePosts(trial.size))
            try await trial.measure { trial.expect(try await manager.fetch(Post.self).count == trial.size) }
        }),
    Kind(
        "graphs: posts, by their writer's name",
        waiting: { trial in
            let manager = posts(trial)
            try await manager.save(somePosts(trial.size))
            try await trial.measure {
                trial.expect(try await !manager.fetch(Post.self, where: \.author.name == "Writer 3").isEmpty)
            }
        }),
    Kind(
        "graphs: posts with any comment of five stars",
        waiting: { trial in
            let manager = posts(trial)
            try await manager.save(somePosts(trial.size))
            try await trial.measure {
                trial.expect(try await manager.count(Post.self, where: .any(\.comments, \.stars == 4)) > 0)
            }
        }),
    Kind(
        "graphs: posts, one found after the other",
        waiting: { trial in
            let manager = posts(trial)
            try await manager.save(somePosts(trial.size))
            try await trial.measure {
                for number in 0..<trial.size { trial.expect(try await manager.find(Post.self, id: number) != nil) }
            }
        }),
    Kind(
        "graphs: posts, saved one after the other",
        waiting: { trial in
            let (manager, all) = (posts(trial), somePosts(trial.size))
            try await manager.load()
            try await trial.measure { for post in all { try await manager.save(post) } }
        }),
    Kind(
        "graphs: posts, deleted with their comments",
        waiting: { trial in
            let (manager, all) = (posts(trial), somePosts(trial.size))
            try await manager.save(all)
            try await trial.measure { trial.expect(try await manager.delete(all) == trial.size) }
        }),
    Kind(
        "graphs: posts, deleted by a filter",
        waiting: { trial in
            let (manager, all) = (posts(trial), somePosts(trial.size))
            try await manager.save(all)
            try await trial.measure {
                trial.expect(try await manager.delete(Post.self, where: \.id >= 0) == trial.size)
            }
        }),
    Kind(
        "graphs: one post with all comments, new",
        waiting: { trial in
            let manager = posts(trial)
            try await manager.load()
            let post = onePost(trial.size)
            try await trial.measure { try await manager.save(post) }
        }),
    Kind(
        "graphs: one post with all comments, one more, many saves", allowance: 9,
        waiting: { trial in
            let manager = posts(trial)
            var post = onePost(trial.size)
            try await manager.save(post)
            try await trial.measure(10) {
                for number in 0..<10 {
                    post.comments.append(Comment(id: trial.size + number, text: "more", stars: 1))
                    try await manager.save(post)
                }
            }
        }),
    Kind(
        "graphs: trees of twenty, new",
        waiting: { trial in
            let manager = leaves(trial)
            try await manager.load()
            let all = trees(trial.size)
            try await trial.measure { try await manager.save(all) }
        }),
    Kind(
        "graphs: trees of twenty, unchanged",
        waiting: { trial in
            let (manager, all) = (leaves(trial), trees(trial.size))
            try await manager.save(all)
            try await trial.measure { try await manager.save(all) }
        }),
    Kind(
        "graphs: trees of twenty, fetched",
        waiting: { trial in
            let (manager, all) = (leaves(trial), trees(trial.size))
            try await manager.save(all)
            try await trial.measure { _ = try await manager.find(Leaf.self, ids: all.map(\.id)) }
        }),
    Kind(
        "graphs: references, new",
        waiting: { trial in
            let manager = PersistenceManager(
                models: City.self, Visit.self, store: .file(trial.folder.appendingPathComponent("Visits")))
            try await manager.save((0..<100).map(City.make))
            let visits = (0..<trial.size).map { Visit(id: $0, city: Reference(City.make($0 % 100)), day: Date()) }
            try await trial.measure { try await manager.save(visits) }
            try await trial.measure { trial.expect(try await manager.fetch(Visit.self).count == trial.size) }
        }),
]

func posts(_ trial: Trial) -> PersistenceManager {
    PersistenceManager(models: Post.self, store: .file(trial.folder.appendingPathComponent("Posts")))
}

private func leaves(_ trial: Trial) -> PersistenceManager {
    PersistenceManager(models: Leaf.self, store: .file(trial.folder.appendingPathComponent("Leaves")))
}

func somePosts(_ count: Int) -> [Post] {
    (0..<count).map { number in
        Post(
            id: number, title: "Post \(number)", author: Writer(id: number % 50, name: "Writer \(number % 50)"),
            labels: [Label(id: "label \(number % 50)"), Label(id: "label \((number + 7) % 50)")],
            comments: (0..<3).map { Comment(id: number * 3 + $0, text: "well", stars: $0 + 2) })
    }
}

private func onePost(_ comments: Int) -> Post {
    Post(
        id: 0, title: "Post", author: Writer(id: 0, name: "Writer"), labels: [],
        comments: (0..<comments).map { Comment(id: $0, text: "comment \($0)", stars: $0 % 5) })
}

private func trees(_ count: Int) -> [Leaf] {
    (0..<count / 20).map { tree in
        func leaf(_ number: Int) -> Leaf {
            Leaf(
                id: tree * 20 + number, name: "leaf \(number)",
                leaves: [number * 2 + 1, number * 2 + 2].filter { $0 < 20 }.map(leaf))
        }
        return leaf(0)
    }
}
