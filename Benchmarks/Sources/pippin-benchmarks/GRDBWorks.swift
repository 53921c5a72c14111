// Compiled where `make bench GRDB=…` names a checkout of GRDB, which the package does not depend on otherwise.
#if GRDB_COLUMN
    import Foundation
    import GRDB

    /// The same works by GRDB, on the same stores, against the same statements of the C API.
    let grdbWorks = [
        work(
            "save new structs, GRDB", operations: { $0 }, changesStore: true,
            store: { workspace, _ in try workspace.emptyBookStore() },
            ours: { database, objects in
                let books = Sample.make(objects).enumerated().map(GRDBBook.init)
                return {
                    try database.write { store in
                        for book in books { try book.insert(store) }
                        try store.execute(sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = \(objects) WHERE Z_NAME = 'Item'")
                    }
                    return Checksum()
                }
            },
            baseline: { database, objects in
                let samples = Sample.make(objects)
                return {
                    try database.insert(samples)
                    return Checksum()
                }
            }),
        fetchBooks("fetch all structs, GRDB by hand", GRDBBookByHand.self),
        fetchBooks("fetch all structs, GRDB by Codable", GRDBBook.self),
        work(
            "20,000 finds of structs by identifier, in one block, GRDB", operations: { _ in lookups },
            store: { try $0.filledBookStore($1) },
            ours: { database, objects in
                let keys = keys(of: objects)
                return {
                    try database.read { store in
                        var sum = Checksum()
                        for key in keys {
                            try GRDBBookByHand.filter(Column("ZUID") == key).fetchOne(store)?.add(to: &sum)
                        }
                        return sum
                    }
                }
            },
            baseline: { database, objects in
                let keys = keys(of: objects)
                return { try database.fetch(keys: keys) }
            }),
        fetchOrders("fetch 16,664 flat orders, GRDB by hand", GRDBOrderByHand.self),
        fetchOrders("fetch 16,664 flat orders, GRDB by Codable", GRDBOrder.self),
        work(
            "fetch 3,884 orders with 120,000 lines, GRDB", operations: { _ in Northwind.large },
            store: { workspace, _ in try workspace.northwind() },
            ours: { database, _ in
                {
                    try database.read { store in
                        let lines = GRDBLargeOrder.lines.order(Column("Z_FOK_LINESOFBIGORDER"))
                        let request = GRDBLargeOrder.including(all: lines).asRequest(of: GRDBOrderWithLines.self)
                        var sum = OrderSum()
                        for order in try request.fetchAll(store) { order.add(to: &sum) }
                        return sum.checksum
                    }
                }
            },
            baseline: { database, _ in
                {
                    var sum = OrderSum()
                    for order in try database.fetchOrdersWithLines() { order.add(to: &sum) }
                    return sum.checksum
                }
            }),
    ]

    private func fetchBooks<Model: BookValues & FetchableRecord & TableRecord>(_ title: String, _ type: Model.Type)
        -> Work
    {
        work(
            title, operations: { $0 }, store: { try $0.filledBookStore($1) },
            ours: { database, _ in
                {
                    var sum = Checksum()
                    for book in try database.read({ try Model.fetchAll($0) }) { book.add(to: &sum) }
                    return sum
                }
            },
            baseline: { database, _ in { try database.fetchAll() } })
    }

    private func fetchOrders<Model: OrderValues & FetchableRecord & TableRecord>(_ title: String, _ type: Model.Type)
        -> Work
    {
        work(
            title, operations: { _ in Northwind.flat }, store: { workspace, _ in try workspace.northwind() },
            ours: { database, _ in
                {
                    var sum = OrderSum()
                    for order in try database.read({ try Model.fetchAll($0) }) { order.add(to: &sum) }
                    return sum.checksum
                }
            },
            baseline: { database, _ in
                {
                    var sum = OrderSum()
                    for order in try database.fetchOrders() { order.add(to: &sum) }
                    return sum.checksum
                }
            })
    }

    private func work(
        _ title: String, operations: @escaping @Sendable (Int) -> Int, changesStore: Bool = false,
        store: @escaping @Sendable (Workspace, Int) throws -> URL,
        ours: @escaping @Sendable (DatabaseQueue, Int) -> () throws -> Checksum,
        baseline: @escaping @Sendable (Baseline, Int) -> () throws -> Checksum
    ) -> Work {
        Work(
            title: title, budget: nil, operations: operations,
            ours: { workspace, objects in
                let file = try store(workspace, objects)
                var configuration = Configuration()
                // What the other sides run with.
                configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
                let database = try DatabaseQueue(path: file.path, configuration: configuration)
                return Trial(store: file, changesStore: changesStore, run: ours(database, objects))
            },
            baseline: { workspace, objects in
                let file = try store(workspace, objects)
                return Trial(
                    store: file, changesStore: changesStore, run: baseline(try Baseline(path: file), objects))
            })
    }

    // MARK: Records

    private struct GRDBBook: BookValues, Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "ZITEM"
        var key: Int64
        var entity = 1
        var version = 1
        var uid: String
        var title: String
        var count: Int64
        var price: Double
        var createdAt: Date
        var isFlagged: Bool

        enum CodingKeys: String, CodingKey {
            case key = "Z_PK"
            case entity = "Z_ENT"
            case version = "Z_OPT"
            case uid = "ZUID"
            case title = "ZTITLE"
            case count = "ZCOUNT"
            case price = "ZPRICE"
            case createdAt = "ZCREATEDAT"
            case isFlagged = "ZISFLAGGED"
        }

        init(_ index: Int, _ sample: Sample) {
            key = Int64(index + 1)
            (uid, title, count, price) = (sample.uid, sample.title, sample.count, sample.price)
            (createdAt, isFlagged) = (sample.createdAt, sample.isFlagged)
        }

        static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
            .timeIntervalSinceReferenceDate
        }
        static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
            .timeIntervalSinceReferenceDate
        }
    }

    private struct GRDBBookByHand: BookValues, FetchableRecord, TableRecord {
        static let databaseTableName = "ZITEM"
        let uid: String
        let title: String
        let count: Int64
        let price: Double
        let createdAt: Date
        let isFlagged: Bool

        init(row: Row) {
            uid = row["ZUID"]
            title = row["ZTITLE"]
            count = row["ZCOUNT"]
            price = row["ZPRICE"]
            createdAt = Date(timeIntervalSinceReferenceDate: row["ZCREATEDAT"])
            isFlagged = row["ZISFLAGGED"]
        }
    }

    private struct GRDBOrder: OrderValues, Codable, FetchableRecord, TableRecord {
        static let databaseTableName = "ZORDER"
        let id: Int
        let customer: String?
        let employee: Int?
        let orderDate: Date?
        let requiredDate: Date?
        let shippedDate: Date?
        let shipVia: Int?
        let freight: Double?
        let shipName: String?
        let shipAddress: String?
        let shipCity: String?
        let shipRegion: String?
        let shipPostalCode: String?
        let shipCountry: String?

        enum CodingKeys: String, CodingKey {
            case id = "ZID"
            case customer = "ZCUSTOMER"
            case employee = "ZEMPLOYEE"
            case orderDate = "ZORDERDATE"
            case requiredDate = "ZREQUIREDDATE"
            case shippedDate = "ZSHIPPEDDATE"
            case shipVia = "ZSHIPVIA"
            case freight = "ZFREIGHT"
            case shipName = "ZSHIPNAME"
            case shipAddress = "ZSHIPADDRESS"
            case shipCity = "ZSHIPCITY"
            case shipRegion = "ZSHIPREGION"
            case shipPostalCode = "ZSHIPPOSTALCODE"
            case shipCountry = "ZSHIPCOUNTRY"
        }

        static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
            .timeIntervalSinceReferenceDate
        }
    }

    private struct GRDBOrderByHand: OrderValues, FetchableRecord, TableRecord {
        static let databaseTableName = "ZORDER"
        let id: Int
        let customer: String?
        let employee: Int?
        let orderDate: Date?
        let requiredDate: Date?
        let shippedDate: Date?
        let shipVia: Int?
        let freight: Double?
        let shipName: String?
        let shipAddress: String?
        let shipCity: String?
        let shipRegion: String?
        let shipPostalCode: String?
        let shipCountry: String?

        init(row: Row) {
            id = row["ZID"]
            customer = row["ZCUSTOMER"]
            employee = row["ZEMPLOYEE"]
            orderDate = row.date("ZORDERDATE")
            requiredDate = row.date("ZREQUIREDDATE")
            shippedDate = row.date("ZSHIPPEDDATE")
            shipVia = row["ZSHIPVIA"]
            freight = row["ZFREIGHT"]
            shipName = row["ZSHIPNAME"]
            shipAddress = row["ZSHIPADDRESS"]
            shipCity = row["ZSHIPCITY"]
            shipRegion = row["ZSHIPREGION"]
            shipPostalCode = row["ZSHIPPOSTALCODE"]
            shipCountry = row["ZSHIPCOUNTRY"]
        }
    }

    extension Row {
        fileprivate func date(_ column: String) -> Date? {
            (self[column] as Double?).map { Date(timeIntervalSinceReferenceDate: $0) }
        }
    }

    private struct GRDBLargeOrder: TableRecord {
        static let databaseTableName = "ZBIGORDER"
        static let lines = hasMany(
            GRDBLine.self, key: "lines", using: ForeignKey(["ZLINESOFBIGORDER"], to: ["Z_PK"]))
    }

    private struct GRDBLine: OrderLineValues, Decodable, FetchableRecord, TableRecord {
        static let databaseTableName = "ZORDERLINE"
        let id: Int
        let product: String
        let unitPrice: Double
        let quantity: Int
        let discount: Double

        enum CodingKeys: String, CodingKey {
            case id = "ZID"
            case product = "ZPRODUCT"
            case unitPrice = "ZUNITPRICE"
            case quantity = "ZQUANTITY"
            case discount = "ZDISCOUNT"
        }
    }

    /// A large order and the lines that were read for all of them.
    private struct GRDBOrderWithLines: OrderWithLinesValues, Decodable, FetchableRecord {
        let id: Int
        let customer: String?
        let orderDate: Date?
        let freight: Double?
        let lines: [GRDBLine]

        enum CodingKeys: String, CodingKey {
            case id = "ZID"
            case customer = "ZCUSTOMER"
            case orderDate = "ZORDERDATE"
            case freight = "ZFREIGHT"
            case lines
        }

        static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
            .timeIntervalSinceReferenceDate
        }
    }
#endif
