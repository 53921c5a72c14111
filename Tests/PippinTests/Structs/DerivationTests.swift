import TestSupport
import Testing

@testable import Pippin

@Suite("What a type tells of its entity")
struct DerivationTests {
    private func described(_ plan: EntityPlan) -> [String] {
        plan.fields.map { field in
            let kind =
                switch field.kind {
                case .attribute(let kind): "\(kind)"
                case .composite(let record): "(\(record.fields.map(\.name).joined(separator: " ")))"
                case .json: "JSON"
                case .toOne(let model): model.isReference ? "-> id of \(model.type)" : "-> \(model.type)"
                case .toMany(let model, let isOrdered): "\(isOrdered ? "->>" : "->> unordered") \(model.type)"
                }
            return "\(field.name)\(field.isOptional ? "?" : ""): \(kind)"
        }
    }

    @Test("are its keys, their kinds, and which are optional")
    func fields() throws {
        #expect(
            described(try EntityDerivation.plan(of: Shop.self)) == [
                "id: uuid", "brand: string", "address: (street floor)", "volumes: ->> Volume",
                "suppliers: ->> unordered Writer",
            ])
        #expect(
            described(try EntityDerivation.plan(of: Volume.self)) == [
                "id: integer64", "title: string", "price?: decimal", "binding: string", "writer?: -> Writer",
            ])
        #expect(
            described(try EntityDerivation.plan(of: Opinion.self)) == [
                "id: string", "volume: -> id of Volume", "stars: integer64", "text?: string",
            ])
    }

    @Test("include every kind of value")
    func kinds() throws {
        let kinds = described(try EntityDerivation.plan(of: Everything.self))
        #expect(
            kinds.filter { !$0.contains("maybe") } == [
                "id: uuid", "flag: boolean", "tiny: integer16", "short: integer16", "medium: integer32",
                "long: integer64", "byte: integer16", "word: integer32", "wide: integer64", "huge: integer64",
                "count: integer64", "ratio: float", "number: double", "when: date", "link: url", "amount: decimal",
                "bytes: data", "size: integer64", "shape: JSON", "tags: JSON", "scores: JSON",
            ])
        #expect(
            kinds.filter { $0.contains("maybe") } == [
                "maybeFlag?: boolean", "maybeShort?: integer16", "maybeWhen?: date", "maybeLink?: url",
                "maybeSize?: integer64", "maybeShape?: JSON", "maybeTags?: JSON", "maybeUUID?: uuid",
                "maybeRatio?: float",
            ])
    }

    @Test("name properties, whatever their coding keys, and find the identifier by its value")
    func names() throws {
        let plan = try EntityDerivation.plan(of: Coin.self)
        #expect(plan.fields.map(\.name) == ["code", "worth"])
        #expect(plan.fields.map(\.key) == ["iso_code", "value_in_euro"])
        #expect(plan.uidKey == "code")
    }

    @Test("find the models within models")
    func registry() throws {
        #expect(try ModelRegistry([Opinion.self]).plans.map(\.name) == ["Opinion", "Volume", "Writer"])
    }

    @Test("pair relationships, with a name for the side that has no property")
    func pairs() throws {
        let pairs = try RelationshipPairs.pairs(of: try ModelRegistry([Shop.self]))
        let lines = pairs.flatMap { [$0, $1] }.map {
            "\($0.entity).\($0.name) \($0.isToMany ? "->>" : "->")\($0.isOwner ? " owned" : "") \($0.destination)"
        }
        #expect(
            lines == [
                "Shop.volumes ->> owned Volume", "Volume.volumesOfShop -> Shop",
                "Shop.suppliers ->> Writer", "Writer.suppliersOfShop ->> Shop",
                "Volume.writer -> Writer", "Writer.writerOfVolume ->> Volume",
            ])
    }

    @Test("pair two properties that the schema calls inverse")
    func declaredInverse() throws {
        struct Song: CoreModel {
            let id: Int
            var record: Reference<Disc>
        }
        struct Disc: CoreModel {
            let id: Int
            var songs: [Song]
            static var schema: Schema<Disc> { Schema(.owns(\.songs), .inverse(\.songs, of: \Song.record)) }
        }
        let pairs = try RelationshipPairs.pairs(of: try ModelRegistry([Song.self]))
        #expect(pairs.count == 1)
        #expect(pairs.first?.0.name == "songs")
        #expect(pairs.first?.1.name == "record")
    }

    @Test("make a model with constraints, indexes, defaults and former names")
    func model() throws {
        struct Stamp: CoreModel {
            let id: String
            var year: Int
            var country: String?
            static var schema: Schema<Stamp> {
                Schema(
                    .index(\.country, \.year), .unique(\.country), .defaultValue(\.year, 1840),
                    .renamed(\.country, from: "land"), .renamed(from: "Briefmarke"), name: "PostageStamp")
            }
        }
        let model = try ModelBuilder.model(of: try ModelRegistry([Stamp.self]))
        let entity = try #require(model.entitiesByName["PostageStamp"])
        #expect(entity.uniquenessConstraints as? [[String]] == [["id"], ["country"]])
        #expect(entity.indexes.map(\.name) == ["byCountryYear"])
        #expect(entity.attributesByName["year"]?.defaultValue as? Int == 1840)
        #expect(entity.attributesByName["country"]?.renamingIdentifier == "land")
        #expect(entity.renamingIdentifier == "Briefmarke")
        #expect(entity.attributesByName["country"]?.isOptional == true)
        #expect(entity.attributesByName["year"]?.isOptional == false)
    }
}

@Suite("A type that no entity can be made of")
struct DerivationErrorTests {
    private func refusal(_ type: any CoreModel.Type) -> String {
        do {
            _ = try ModelBuilder.model(of: try ModelRegistry([type]))
            return "none"
        } catch {
            return "\(error)"
        }
    }

    @Test("is refused with the property that no value could be made up for, and what to do")
    func noPrototype() {
        struct Even: Codable {
            let number: Int
            init(from decoder: any Decoder) throws {
                throw CocoaError(.coderInvalidValue)
            }
        }
        struct Pair: CoreModel {
            let id: Int
            var even: Even
        }
        let text = refusal(Pair.self)
        #expect(text.contains("'Pair'"))
        #expect(text.contains("'even'"))
        #expect(text.contains("Prototyped"))
    }

    @Test("takes part where it is given a prototype")
    func prototype() throws {
        struct Odd: Codable, Prototyped {
            let number: Int
            static let prototype = Odd(number: 1)
            init(number: Int) { self.number = number }
            init(from decoder: any Decoder) throws {
                number = try decoder.singleValueContainer().decode(Int.self)
                guard number % 2 == 1, number > 1000 else { throw CocoaError(.coderInvalidValue) }
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(number)
            }
        }
        struct Pair: CoreModel {
            let id: Int
            var odd: Odd
        }
        let plan = try EntityDerivation.plan(of: Pair.self)
        guard case .attribute(.integer64) = plan.fields[1].kind else {
            Issue.record("expected an integer")
            return
        }
    }

    @Test("is refused where the schema names what is not stored")
    func computed() {
        struct Area: CoreModel {
            let id: Int
            var side: Int { 1 }
            static var schema: Schema<Area> { Schema(.index(\.side)) }
        }
        #expect(refusal(Area.self).contains("not a property that is stored. Stored are: id."))
    }

    @Test("is refused where a number is wider than any column, also one that may be missing; a list of them is JSON")
    func wide() async throws {
        struct Galaxy: CoreModel {
            let id: Int
            var stars: Int128
        }
        struct Cluster: CoreModel {
            let id: Int
            var stars: UInt128?
        }
        struct Sky: CoreModel, Equatable {
            let id: Int
            var counts: [Int128]
        }
        #expect(refusal(Galaxy.self).contains("because of 'stars': a store has no column for Int128"))
        #expect(refusal(Cluster.self).contains("because of 'stars': a store has no column for UInt128"))
        let manager = PersistenceManager(models: Sky.self, store: .memory)
        let sky = Sky(id: 1, counts: [.min, 0, .max])
        try await manager.save(sky)
        #expect(try await manager.fetch(Sky.self) == [sky])
    }

    @Test("has indexes over the properties of nested structs, but of none as a whole, and none is unique")
    func nestedIndexes() throws {
        struct Size: Codable {
            enum CodingKeys: String, CodingKey { case width = "w" }
            var width: Int
        }
        struct Crate: CoreModel {
            let id: Int
            var size: Size
            var inner: Size?
            static var schema: Schema<Crate> { Schema(.index(\.size.width, \.id), .index(\.inner?.width)) }
        }
        struct Whole: CoreModel {
            let id: Int
            var size: Size
            static var schema: Schema<Whole> { Schema(.index(\.size)) }
        }
        struct Unique: CoreModel {
            let id: Int
            var size: Size
            static var schema: Schema<Unique> { Schema(.unique(\.size.width)) }
        }
        let counter = try Counter(Crate.self)
        let indexes = try counter.strings("SELECT name FROM sqlite_master WHERE name LIKE '%by%' ORDER BY name")
        #expect(indexes == ["Z_Crate_byInner.width", "Z_Crate_bySize.widthId"])
        #expect(refusal(Whole.self).contains("Name their properties."))
        #expect(refusal(Unique.self).contains("no store keeps the properties of a nested struct unique"))
    }

    @Test("is refused where its identifier is not coded")
    func identifier() {
        struct Ghost: CoreModel {
            var name: String
            var id: String { "ghost" }
        }
        #expect(refusal(Ghost.self).contains("none of the values that are coded (name)"))
    }

    @Test("is refused where what it owns is not a model")
    func ownedAttribute() {
        struct Box: CoreModel {
            let id: Int
            var label: String
            static var schema: Schema<Box> { Schema(.owns(\.label)) }
        }
        #expect(refusal(Box.self).contains("it has no other models"))
    }

    @Test("is an error of loading")
    func loading() {
        struct Ghost: CoreModel {
            var name: String
            var id: String { "ghost" }
        }
        let manager = PersistenceManager(models: Ghost.self, store: .memory)
        #expect(throws: PersistenceError.self) { try manager.loadAndWait() }
    }
}
