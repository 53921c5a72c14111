import Pippin
import TestSupport

// A bookshop as structs alone. No records, no model file.

struct Writer: CoreModel, Hashable {
    let id: String
    var name: String
}

struct Volume: CoreModel, Equatable {
    enum Binding: String, Codable, Sendable { case cloth, paper }

    let id: Int
    var title: String
    var price: Decimal?
    var binding = Binding.cloth
    var writer: Writer?
}

/// Owns its volumes, in order; shares its suppliers.
struct Shop: CoreModel, Equatable {
    struct Address: Codable, Sendable, Equatable {
        var street: String
        var floor: Int?
    }

    let id: UUID
    var brand: String
    var address: Address
    var volumes: [Volume] = []
    var suppliers: Set<Writer> = []

    static var schema: Schema<Shop> { Schema(.owns(\.volumes), .index(\.brand)) }
}

/// Refers back to its volume.
struct Opinion: CoreModel, Equatable {
    let id: String
    var volume: Reference<Volume>
    var stars: Int
    var text: String?
}

/// Whose identifier has another name, and whose keys differ from its properties.
struct Coin: CoreModel, Equatable {
    let code: String
    var worth: Double

    var id: String { code }

    enum CodingKeys: String, CodingKey {
        case code = "iso_code"
        case worth = "value_in_euro"
    }
}

/// Every kind of property.
struct Everything: CoreModel, Equatable {
    enum Shape: Codable, Sendable, Equatable {
        case circle(radius: Double)
        case polygon([Double])
        case point
    }

    enum Size: Int, Codable, Sendable { case small = 1, large = 7 }

    let id: UUID
    var flag: Bool
    var tiny: Int8
    var short: Int16
    var medium: Int32
    var long: Int64
    var byte: UInt8
    var word: UInt16
    var wide: UInt32
    var huge: UInt64
    var count: UInt
    var ratio: Float
    var number: Double
    var when: Date
    var link: URL
    var amount: Decimal
    var bytes: Data
    var size: Size
    var shape: Shape
    var tags: [String]
    var scores: [String: Int]
    var maybeFlag: Bool?
    var maybeShort: Int16?
    var maybeWhen: Date?
    var maybeLink: URL?
    var maybeSize: Size?
    var maybeShape: Shape?
    var maybeTags: [String]?
    var maybeUUID: UUID?
    var maybeRatio: Float?

    static let full = Everything(
        id: UUID(), flag: true, tiny: -8, short: -16, medium: -32, long: -64, byte: 8, word: 16, wide: 32, huge: 64,
        count: 1, ratio: 0.5, number: 0.25, when: Date(timeIntervalSinceReferenceDate: 700_000_000.5),
        link: URL(string: "https://pippin.example/a?b=c")!, amount: Decimal(string: "12.345")!,
        bytes: Data([0, 1, 255]), size: .large, shape: .circle(radius: 2), tags: ["a", "b"], scores: ["x": 1],
        maybeFlag: false, maybeShort: 3, maybeWhen: Date(timeIntervalSinceReferenceDate: 1),
        maybeLink: URL(string: "file:///tmp/x"), maybeSize: .small, maybeShape: .polygon([1, 2]), maybeTags: [],
        maybeUUID: UUID(), maybeRatio: 1.5)

    static let bare = Everything(
        id: UUID(), flag: false, tiny: 0, short: 0, medium: 0, long: 0, byte: 0, word: 0, wide: 0, huge: 0, count: 0,
        ratio: 0, number: 0, when: Date(timeIntervalSinceReferenceDate: 0), link: URL(string: "a")!, amount: 0,
        bytes: Data(), size: .small, shape: .point, tags: [], scores: [:])
}

/// A loaded manager of models, over a file in a folder of its own, which goes with it.
final class Counter: StoreFile, Sendable {
    let folder: TestFolder
    let manager: PersistenceManager
    var file: URL { folder.file("models.sqlite") }

    init(_ models: any CoreModel.Type...) throws {
        folder = try TestFolder()
        manager = PersistenceManager(models: models, store: .file(folder.file("models.sqlite")))
        try manager.loadAndWait()
    }
}
