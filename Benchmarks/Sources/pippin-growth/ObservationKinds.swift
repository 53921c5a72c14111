import Pippin

/// Live queries beside saves.
let observationKinds = [
    Kind(
        "live: one that all saves touch, small result",
        waiting: { trial in
            let (manager, _) = try await filledCities(trial)
            try await follow(trial, manager, manager.observe(City.self, where: \.people < 100)) { City.make($0 % 9) }
        }),
    Kind(
        "live: one that no save touches",
        waiting: { trial in
            let (manager, _) = try await filledCities(trial)
            var states = manager.observe(City.self, where: \.people < 0).makeAsyncIterator()
            _ = try await states.next()
            try await trial.measure(200) {
                for number in 0..<200 {
                    var city = City.make(number)
                    city.name = "other"
                    try await manager.save(city)
                }
            }
        }),
    Kind(
        "live: one model among many",
        waiting: { trial in
            let (manager, _) = try await filledCities(trial)
            var states = manager.observe(City.self, id: 3).makeAsyncIterator()
            _ = try await states.next()
            try await trial.measure(200) {
                for number in 0..<200 {
                    var city = City.make(3)
                    city.name = "name \(number)"
                    try await manager.save(city)
                    trial.expect(try await states.next()??.name == city.name)
                }
            }
        }),
    Kind(
        "live: differences of a list of all", allowance: 2.5,
        waiting: { trial in
            let (manager, _) = try await filledCities(trial)
            var changes = manager.observe(City.self, sortedBy: .ascending(\.id)).differences().makeAsyncIterator()
            _ = try await changes.next()
            try await trial.measure(10) {
                for number in 0..<10 {
                    var city = City.make(number)
                    city.name = "other"
                    try await manager.save(city)
                    trial.expect(try await changes.next()?.updates.count == 1)
                }
            }
        }),
    Kind(
        "live: differences of all posts, one of them changed", allowance: 2.5,
        waiting: { trial in
            let (manager, all) = (posts(trial), somePosts(trial.size))
            try await manager.save(all)
            var changes = manager.observe(Post.self, sortedBy: .ascending(\.id)).differences().makeAsyncIterator()
            _ = try await changes.next()
            try await trial.measure(10) {
                for number in 0..<10 {
                    var post = all[number]
                    post.title = "other"
                    try await manager.save(post)
                    trial.expect(try await changes.next()?.updates.count == 1)
                }
            }
        }),
    Kind(
        "live: differences of all posts, a comment of one changed", allowance: 2.5,
        waiting: { trial in
            let (manager, all) = (posts(trial), somePosts(trial.size))
            try await manager.save(all)
            var changes = manager.observe(Post.self, sortedBy: .ascending(\.id)).differences().makeAsyncIterator()
            _ = try await changes.next()
            try await trial.measure(10) {
                for number in 0..<10 {
                    var comment = all[number].comments[0]
                    comment.text = "other"
                    try await manager.save(comment)
                    trial.expect(try await changes.next()?.updates.count == 1)
                }
            }
        }),
    Kind(
        "live: sections of all cities", allowance: 2.5,
        waiting: { trial in
            let (manager, _) = try await filledCities(trial)
            let list = manager.observe(City.self, sortedBy: .ascending(\.id))
            var updates = list.sections(by: { "\($0.id / 100)" }).makeAsyncIterator()
            _ = try await updates.next()
            try await trial.measure(10) {
                for number in 0..<10 {
                    var city = City.make(number)
                    city.name = "other"
                    try await manager.save(city)
                    trial.expect(try await updates.next()?.changes.updates.count == 1)
                }
            }
        }),
]

private func follow(
    _ trial: Trial, _ manager: PersistenceManager, _ observation: LiveQuery<[City]>,
    _ city: (Int) -> City
) async throws {
    var states = observation.makeAsyncIterator()
    _ = try await states.next()
    try await trial.measure(200) {
        for number in 0..<200 {
            var city = city(number)
            city.name = "name \(number)"
            try await manager.save(city)
            let name = city.name
            trial.expect(try await states.next()?.contains { $0.name == name } == true)
        }
    }
}
