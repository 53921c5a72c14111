public typealias Labels = [String]
