import Pippin

struct City: CoreModel, Equatable {
    let id: Int
    var name: String
    var people: Int
    var area: Double?
    var founded: Date?
    var labels: [String] = []

    static func make(_ number: Int) -> City {
        City(
            id: number, name: "City \(number % 1000)", people: number * 10,
            area: number % 3 == 0 ? nil : Double(number),
            founded: Date(timeIntervalSinceReferenceDate: Double(number)), labels: ["old", "large"])
    }
}

struct Town: CoreModel {
    let id: UUID
    var name: String
    var place: Place
    var web: URL?
    var price: Decimal
    var kind: Kind

    struct Place: Codable, Sendable { var (latitude, longitude, height) = (1.5, 2.5, Double?.none) }
    enum Kind: String, Codable, Sendable { case market, port }
}

/// Structs without relationships.
let structKinds = [
    Kind(
        "structs: save new",
        waiting: { trial in
            let manager = cities(trial)
            let all = (0..<trial.size).map(City.make)
            try await manager.load()
            try await trial.measure { try await manager.save(all) }
        }),
    Kind(
        "structs: save unchanged",
        waiting: { trial in
            let (manager, all) = try await filledCities(trial)
            try await trial.measure { try await manager.save(all) }
        }),
    Kind(
        "structs: save changed",
        waiting: { trial in
            var (manager, all) = try await filledCities(trial)
            for index in all.indices { all[index].people += 1 }
            let changed = all
            try await trial.measure { try await manager.save(changed) }
        }),
    Kind(
        "structs: save one by one",
        waiting: { trial in
            let manager = cities(trial)
            try await manager.load()
            try await trial.measure { for number in 0..<trial.size { try await manager.save(City.make(number)) } }
        }),
    Kind(
        "structs: fetch all",
        waiting: { trial in
            let (manager, _) = try await filledCities(trial)
            try await trial.measure { trial.expect(try await manager.fetch(City.self).count == trial.size) }
        }),
    Kind(
        "structs: replace all by the half",
        waiting: { trial in
            let (manager, all) = try await filledCities(trial)
            try await trial.measure { try await manager.replaceAll(with: Array(all.prefix(trial.size / 2))) }
        }),
    Kind(
        "structs: delete by identifiers",
        waiting: { trial in
            let (manager, all) = try await filledCities(trial)
            try await trial.measure {
                trial.expect(try await manager.delete(City.self, ids: all.map(\.id)) == trial.size)
            }
        }),
    Kind(
        "structs: delete models",
        waiting: { trial in
            let (manager, all) = try await filledCities(trial)
            try await trial.measure { trial.expect(try await manager.delete(all) == trial.size) }
        }),
    Kind(
        "structs: find by identifiers, all at once",
        waiting: { trial in
            let (manager, all) = try await filledCities(trial)
            try await trial.measure {
                trial.expect(try await manager.find(City.self, ids: all.map(\.id)).count == trial.size)
            }
        }),
    Kind(
        "structs: find by identifier, one by one",
        waiting: { trial in
            let (manager, all) = try await filledCities(trial)
            try await trial.measure {
                for city in all { trial.expect(try await manager.find(City.self, id: city.id) != nil) }
            }
        }),
    paged("by the last one", .ascending(\.id)),
    paged("the last ones first", .descending(\.id)),
    paged("by an indexed property", .ascending(\.rank)),
    paged("by an indexed property, the largest first", .descending(\.rank)),
    Kind(
        "structs: counts and sums by group",
        waiting: { trial in
            let (manager, _) = try await filledCities(trial)
            try await trial.measure {
                trial.expect(try await manager.count(City.self, by: \.name).count == 1000)
                trial.expect(try await manager.sum(City.self, \.people, by: \.name).count == 1000)
            }
        }),
    Kind(
        "structs: one of as many values",
        waiting: { trial in
            let (manager, all) = try await filledCities(trial)
            let keys = all.map(\.people)
            try await trial.measure {
                trial.expect(try await manager.count(City.self, where: keys.contains(\.people)) == trial.size)
            }
        }),
    Kind(
        "structs: filtered by text and sorted",
        waiting: { trial in
            let (manager, _) = try await filledCities(trial)
            try await trial.measure {
                let filter: Filter<City> = .contains(\.name, "CITY 7", .caseInsensitive)
                trial.expect(
                    try await !manager.fetch(City.self, where: filter, sortedBy: .descending(\.people)).isEmpty)
            }
        }),
    Kind(
        "structs: update where a filter holds",
        waiting: { trial in
            let (manager, _) = try await filledCities(trial)
            try await trial.measure {
                _ = try await manager.update(City.self, where: \.people >= 0) { $0.set(\.people, to: 5) }
            }
        }),
    Kind(
        "structs: import of a sequence",
        waiting: { trial in
            let manager = cities(trial)
            try await manager.load()
            let values = AsyncStream<City> { stream in
                for number in 0..<trial.size { stream.yield(City.make(number)) }
                stream.finish()
            }
            try await trial.measure {
                trial.expect(try await manager.importModels(values).inserted == trial.size)
            }
        }),
    Kind(
        "structs: import of CSV",
        waiting: { trial in
            let manager = PersistenceManager(
                models: Shop.self, store: .file(trial.folder.appendingPathComponent("Shops")))
            try await manager.load()
            let file = trial.folder.appendingPathComponent("shops.csv")
            let lines = (0..<trial.size).map { "\($0),\"Shop, the \($0)th\",\($0).5,true" }
            try Data((["id,name,worth,open"] + lines).joined(separator: "\n").utf8).write(to: file)
            try await trial.measure {
                trial.expect(try await manager.importCSV(Shop.self, from: file).inserted == trial.size)
            }
        }),
    Kind(
        "structs: import of JSON Lines",
        waiting: { trial in
            let manager = PersistenceManager(
                models: Shop.self, store: .file(trial.folder.appendingPathComponent("Shops")))
            try await manager.load()
            let file = trial.folder.appendingPathComponent("shops.jsonl")
            let lines = (0..<trial.size).map { #"{"id":\#($0),"name":"Shop \#($0)","worth":\#($0).5,"open":true}"# }
            try Data(lines.joined(separator: "\n").utf8).write(to: file)
            try await trial.measure {
                trial.expect(try await manager.importJSONLines(Shop.self, from: file).inserted == trial.size)
            }
        }),
    Kind(
        "structs: of unusual types, save new",
        waiting: { trial in
            let manager = PersistenceManager(
                models: Town.self, store: .file(trial.folder.appendingPathComponent("Towns")))
            try await manager.load()
            let all = towns(trial.size)
            try await trial.measure { try await manager.save(all) }
        }),
    Kind(
        "structs: of unusual types, fetch",
        waiting: { trial in
            let manager = PersistenceManager(
                models: Town.self, store: .file(trial.folder.appendingPathComponent("Towns")))
            try await manager.save(towns(trial.size))
            try await trial.measure { trial.expect(try await manager.fetch(Town.self).count == trial.size) }
        }),
]

struct Shop: CoreModel {
    let id: Int
    var name: String
    var worth: Double
    var open: Bool
}

private func towns(_ count: Int) -> [Town] {
    (0..<count).map {
        Town(
            id: UUID(), name: "Town \($0)", place: Town.Place(), web: URL(string: "https://example.com/\($0)"),
            price: Decimal($0), kind: $0 % 2 == 0 ? .market : .port)
    }
}

func cities(_ trial: Trial) -> PersistenceManager {
    PersistenceManager(models: City.self, store: .file(trial.folder.appendingPathComponent("Cities")))
}

func filledCities(_ trial: Trial) async throws -> (PersistenceManager, [City]) {
    let manager = cities(trial)
    let all = (0..<trial.size).map(City.make)
    try await manager.save(all)
    return (manager, all)
}

/// A place with an index over its rank.
struct Rank: CoreModel {
    let id: Int
    var rank: Int

    static var schema: Schema<Rank> { Schema(.index(\.rank)) }
}

private func paged(_ title: String, _ order: Order<Rank>) -> Kind {
    Kind(
        "structs: page after page, \(title)",
        waiting: { trial in
            let manager = PersistenceManager(
                models: Rank.self, store: .file(trial.folder.appendingPathComponent("ranks.sqlite")))
            try await manager.save((0..<trial.size).map { Rank(id: $0, rank: $0 / 10) })
            try await trial.measure {
                var (last, count): (Rank?, Int) = (nil, 0)
                while true {
                    let page = try await manager.fetch(Rank.self, sortedBy: order, after: last, limit: 100)
                    count += page.count
                    guard let end = page.last else { break }
                    last = end
                }
                trial.expect(count == trial.size)
            }
        })
}
