// swift-format-ignore-file
public typealias Labels = [String]
